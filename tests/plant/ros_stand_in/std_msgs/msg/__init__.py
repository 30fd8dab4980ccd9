class Float64MultiArray:
    def __init__(self, data=()):
        self.data = list(data)
