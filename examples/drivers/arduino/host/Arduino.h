// Arduino.h - just enough of the Arduino functions to run a sketch on a PC: Serial is standard input and
// output, and a simulated pendulum with a DC motor hangs behind the pins. Time is simulated: it passes when
// the sketch looks at the clock.
#ifndef ARDUINO_HOST_H
#define ARDUINO_HOST_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A0 = 14, OUTPUT = 1, INPUT = 0 };

unsigned long micros();
unsigned long millis();
int           analogRead(int pin);
void          analogWrite(int pin, int value);
void          pinMode(int pin, int mode);

class HostSerial {
public:
    void begin(long) {}
    int  available();
    int  read();
    void print(const char *text) { fputs(text, stdout); }
    void print(char c) { putchar(c); }
    void print(unsigned long n) { printf("%lu", n); }
    void print(double x, int digits) { printf("%.*f", digits, x); }
    void println(const char *text) { print(text), end(); }
    void println(unsigned long n) { print(n), end(); }
    void println(double x, int digits) { print(x, digits), end(); }

private:
    void end() { fputs("\r\n", stdout), fflush(stdout); }
};
extern HostSerial Serial;

void setup();
void loop();

#endif
