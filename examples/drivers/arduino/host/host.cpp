// host.cpp - runs a sketch: c++ -I host -include Arduino.h -x c++ rig/rig.ino -x none host/host.cpp
#include "Arduino.h"

#include <poll.h>
#include <unistd.h>

HostSerial Serial;

static double theta = 0.01, omega = 0, volt = 0; // the pendulum: 0 hangs down
static double clock_us = 0;
static int    forward_pwm = 0, back_pwm = 0;

static void simulate(double us)
{
    const double h = 1e-6 * us;
    volt = 12.0 * (forward_pwm - back_pwm) / 255.0;
    omega += h * (0.5 * (volt - 0.2 * omega) - 0.02 * omega - 4.905 * sin(theta)) / 0.25;
    theta += h * omega;
    clock_us += us;
}

unsigned long micros()
{
    simulate(100);
    return (unsigned long)clock_us;
}

unsigned long millis() { return micros() / 1000; }

int analogRead(int pin)
{
    double turn = (theta + M_PI) / (2 * M_PI);
    return pin == A0 ? (int)(1024 * (turn - floor(turn))) : 0;
}

void analogWrite(int pin, int value)
{
    if (pin == 5) forward_pwm = value;
    if (pin == 6) back_pwm = value;
    if (pin == 6 && getenv("RIG_TRACE")) fprintf(stderr, "motor %d\n", forward_pwm - back_pwm);
}

void pinMode(int, int) {}

static int next = -1;

int HostSerial::available()
{
    struct pollfd p = {0, POLLIN, 0};
    unsigned char c;
    if (next >= 0) return 1;
    if (poll(&p, 1, 1) <= 0) return 0;
    if (::read(0, &c, 1) <= 0) exit(0); // the line was unplugged
    next = c;
    return 1;
}

int HostSerial::read()
{
    int c = available() ? next : -1;
    next = -1;
    return c;
}

int main()
{
    setup();
    for (;;) loop();
}
