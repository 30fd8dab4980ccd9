/* rig.ino - a pendulum rig on an Arduino: a potentiometer or analog encoder on A0, a motor driver on two
 * PWM pins.
 *
 *   plant: {serial: /dev/ttyACM0, baud: 115200}
 *
 * The board keeps time (lock-step): it answers a step one period after the step before. If nothing is heard
 * for the agreed time during a trial the motor is switched off. See docs/plant-protocol.md. */

const float RATE = 20.0;                 // Hz, as in the task file
const float COUNTS = 1024.0;             // of the converter, over one turn
const float VOLT_PER_PWM = 12.0 / 255.0; // supply over full scale
const int   PIN_ANGLE = A0, PIN_FORWARD = 5, PIN_BACK = 6;

char          line[96];
int           length = 0;
bool          running = false;
unsigned long asked = 0, sample = 0;     // number of the last question, samples since reset
unsigned long tick = 0, heard = 0;       // us, ms
unsigned long watchdog = 1000;           // ms
float         angle = 0;
char          lastWord = 0;              // 'd' data, 's' stopped: the answer to repeat

void motor(float volt)
{
    int pwm = (int)(fabs(volt) / VOLT_PER_PWM + 0.5);
    if (pwm > 255) pwm = 255;
    analogWrite(PIN_FORWARD, volt > 0 ? pwm : 0);
    analogWrite(PIN_BACK, volt < 0 ? pwm : 0);
}

void measure()
{
    // 0 hangs down, within +-pi: measured: {theta: {wraps: yes}}
    angle = (analogRead(PIN_ANGLE) - COUNTS / 2) * (6.2831853 / COUNTS);
}

void say()
{
    if (lastWord == 'd') {
        Serial.print("data ");
        Serial.print(asked);
        Serial.print(' ');
        Serial.print(sample / RATE, 6);
        Serial.print(' ');
        Serial.println(angle, 6);
    }
    if (lastWord == 's') {
        Serial.print("stopped ");
        Serial.println(asked);
    }
}

void period() // one period after the sample before, by the board's own clock
{
    if (!running) {
        Serial.println("error no trial is running: reset first");
        lastWord = 0;
        return;
    }
    tick += (unsigned long)(1e6 / RATE);
    while ((long)(tick - micros()) > 0) {
    }
    sample++;
    measure();
    lastWord = 'd';
}

void answer()
{
    char *word = strtok(line, " ");
    if (!word) return;
    heard = millis();
    if (!strcmp(word, "hello")) {
        for (char *w = strtok(NULL, " "); w; w = strtok(NULL, " "))
            if (!strncmp(w, "watchdog=", 9)) watchdog = (unsigned long)(atof(w + 9) * 1000);
        asked = 0;
        running = false;
        Serial.print("hello 1 rate=");
        Serial.print(RATE, 3);
        Serial.println(" inputs=u:V measured=theta:rad");
        return;
    }
    if (!strcmp(word, "bye")) {
        motor(0);
        running = false;
        return;
    }
    char         *text = strtok(NULL, " ");
    unsigned long number = text ? strtoul(text, NULL, 10) : 0;
    if (number < asked) return;          // late
    if (number > asked) {                // else asked again: the same answer, and nothing moves
        asked = number;
        lastWord = 0;
        char *input = strtok(NULL, " ");
        float volt = input ? atof(input) : 0;
        if (!strcmp(word, "reset")) {
            motor(0);
            running = true;
            sample = 0;
            tick = micros();
            measure();
            lastWord = 'd';
        } else if (!strcmp(word, "step")) {
            if (running) motor(volt);
            period();
        } else if (!strcmp(word, "stop")) {
            motor(volt);
            running = false;
            lastWord = 's';
        } else {
            Serial.println("error expected hello, reset, step, stop or bye");
        }
    }
    say();
}

void setup()
{
    Serial.begin(115200);
    pinMode(PIN_FORWARD, OUTPUT);
    pinMode(PIN_BACK, OUTPUT);
    motor(0);
}

void loop()
{
    while (Serial.available()) {
        char c = Serial.read();
        if (c == '\n') {
            line[length] = 0;
            length = 0;
            answer();
        } else if (length < (int)sizeof line - 1) {
            line[length++] = c;
        }
    }
    if (running && millis() - heard > watchdog) {
        motor(0); // nobody speaks
        running = false;
    }
}
