class JointState:
    def __init__(self, name=(), position=()):
        self.name, self.position = list(name), list(position)
