"""live_in_browser.py BROWSER MCPILCO TASK WORK - the live page in a real browser: a run to its end with the
link to the report, and a run that its stop button ends, after asking."""
import os, re, subprocess, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser

program, mcpilco, task, work = sys.argv[1:5]
failures = 0


def check(ok, claim):
    global failures
    print(("ok   " if ok else "FAIL ") + claim)
    failures += not ok


def learn(name, steps, trials):
    log = open(f"{work}/{name}.log", "w+")
    settings = [f"--set=optimise.{k}={steps}" for k in ("steps", "steps_first")]
    run = subprocess.Popen([mcpilco, "learn", task, "--seed", "1", "--trials", str(trials), "--out",
                            f"{work}/{name}", "--set=optimise.particles=64", *settings, "--live", "0"],
                           stdout=subprocess.DEVNULL, stderr=log)
    for _ in range(600):
        found = re.search(r"http://\S+", open(f"{work}/{name}.log").read())
        if found:
            return run, found.group(0)
        time.sleep(0.05)
    raise RuntimeError("no address was told")


browser = Browser(program, os.path.join(work, "profile-live"))
try:
    run, url = learn("watched", 200, 2)
    page = browser.page(url)
    check(page.wait("document.querySelectorAll('#rows tr').length >= 2", 120), "trials appear as they end")
    check(page.wait("!!document.getElementById('report')", 120), "the end links to the report")
    words = page.run("document.getElementById('verdict').textContent")
    check("starts succeed" in words, f"the verdict stands at the end: {words[:60]}")
    check("deviations" in page.run("document.getElementById('rows').textContent"),
          "each trial has its diagnosis")
    check(page.run("fetch(document.getElementById('report').href).then(r => r.text())"
                   ".then(t => t.includes('</html>'))"), "the report is whole, after the program has ended")
    check(page.run("document.getElementById('fan').children.length") == 2, "a chart for every state")
    check(run.wait(60) == 0, "the run ends well")
    time.sleep(0.5)
    now = page.run("document.getElementById('now').textContent")
    check("finished" in now, f"and the page says so: {now}")
    check(not page.console, f"nothing on the console: {page.console[:2]}")

    run, url = learn("button", 4000, 9)
    page = browser.page(url)
    check(page.wait("/step/.test(document.getElementById('now').textContent)", 60), "the steps are told")
    check(page.run("document.getElementById('left').textContent").endswith("left"),
          "so is the time that is left")
    page.run("setTimeout(() => document.getElementById('stop').click(), 0)")
    code = None
    for _ in range(300):
        page.run("1")
        code = run.poll()
        if code is not None:
            break
        time.sleep(0.1)
    check(len(page.dialogs) == 1 and "Stop the run?" in page.dialogs[0],
          f"the button asks first: {page.dialogs}")
    check(code == 130, f"and stops the run: {code}")
finally:
    browser.close()
sys.exit(failures != 0)
