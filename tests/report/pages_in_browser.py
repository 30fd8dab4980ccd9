"""pages_in_browser.py BROWSER WORK - the run's page and the comparison under a real pointer: values, one
cursor, zoom, downloads; nothing asked of the network, nothing on the console."""
import csv, os, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser

program, work = sys.argv[1], os.path.abspath(sys.argv[2])
failures = 0


def check(ok, claim):
    global failures
    print(("ok   " if ok else "FAIL ") + claim)
    failures += not ok


FIRST = "[...document.querySelectorAll('svg.chart')].filter(s => s.dataset.group === 'trial-5')"
PLACE = f"""(() => {{ const s = {FIRST}[0]; s.scrollIntoView({{block: 'center'}});
  const b = s.querySelector('.plot').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; }})()"""

browser = Browser(program, os.path.join(work, "profile-debug"))
try:
    page = browser.page("file://" + work + "/run/report.html")
    check(page.wait("document.readyState === 'complete' && "
                    "document.querySelectorAll('svg.chart').length > 5"),
          "the page has charts")
    page.run("document.getElementById('play').click()")  # stands still
    x, y, w, h = page.run(PLACE)
    time.sleep(0.3)
    x, y, w, h = page.run(PLACE)
    page.mouse("mouseMoved", x + 0.5 * w, y + 0.5 * h)
    tip = page.run("(document.querySelector('.tip:not([hidden])') || {}).textContent || ''")
    check("1.25 s" in tip and "plant" in tip and "5-95 %" in tip, f"values under the pointer: {tip[:80]}")
    cursors = page.run(f"{FIRST}.map(s => s.querySelector('.cursor').getAttribute('d'))")
    check(len(cursors) >= 4 and all(cursors), f"one cursor in all {len(cursors)} charts of the trial")
    clock = page.run("document.getElementById('clock').textContent")
    check(clock.startswith("1.25 s"), f"the animation follows: {clock}")
    page.run("(() => { const s = document.getElementById('scrub'); s.value = 0.5; s.oninput(); })()")
    moved = page.run(f"{FIRST}.map(s => s.querySelector('.cursor').getAttribute('d'))")
    check(all(moved) and moved != cursors, "the charts follow the animation")

    before = page.run(f"{FIRST}[0].querySelector('.plot').getAttribute('viewBox')")
    x, y, w, h = page.run(PLACE)
    page.drag(x + 0.2 * w, x + 0.4 * w, y + 0.5 * h)
    boxes = page.run(f"{FIRST}.map(s => s.querySelector('.plot').getAttribute('viewBox'))")
    check(all(b != before for b in boxes) and len(set(b.split()[2] for b in boxes)) == 1,
          "a drag zooms all charts of the trial alike")
    labels = page.run(f"[...{FIRST}[0].querySelectorAll('g.x text')].map(t => +t.textContent)")
    check(labels and min(labels) >= 0.49 and max(labels) <= 1.01, f"the axis shows what is seen: {labels}")
    page.run(f"{FIRST}[0].dispatchEvent(new MouseEvent('dblclick'))")
    after = page.run(f"{FIRST}[0].querySelector('.plot').getAttribute('viewBox')")
    check(after.split()[2] == before.split()[2], "a double click shows all")

    page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    cut = page.run("[...document.querySelectorAll('.wide')].filter(w => w.scrollWidth > w.clientWidth + 1)"
                   ".map(w => w.textContent.slice(0, 30))")
    check(cut == [], f"no table is cut off on a phone: {cut}")
    page.call("Emulation.clearDeviceMetricsOverride")

    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=work + "/saved")
    page.run(f"""(() => {{ const f = {FIRST}[0].closest('figure');
      f.querySelector('[data-save=csv]').click(); f.querySelector('[data-save=svg]').click(); }})()""")
    for _ in range(100):
        names = os.listdir(work + "/saved") if os.path.isdir(work + "/saved") else []
        if any(n.endswith(".csv") for n in names) and any(n.endswith(".svg") for n in names):
            break
        time.sleep(0.1)
    saved = {n.rsplit(".", 1)[-1]: work + "/saved/" + n for n in names}
    rows = list(csv.DictReader(open(saved["csv"])))
    real = list(csv.DictReader(open(work + "/run/trial-05/trial.csv")))
    off = max(abs(float(r["plant"]) - float(q["truth.theta"])) for r, q in zip(rows, real))
    check(len(rows) == len(real) and off < 2e-3,
          f"the saved numbers are the trial's: {len(rows)} rows, off by {off:.1g}")
    check("</svg>" in open(saved["svg"]).read(), "the saved drawing is whole")
    check(not [u for u in page.requests if not u.startswith(("file:", "blob:", "data:"))],
          f"nothing is asked of the network: {page.requests[:3]}")
    check(not page.console, f"nothing on the console: {page.console[:2]}")

    page = browser.page("file://" + work + "/compare.html")
    check(page.wait("document.querySelectorAll('svg.chart').length >= 4"), "the comparison has charts")
    check(page.run("document.querySelectorAll('#trajectories svg.chart [data-name=run]').length") >= 1 and
          page.run("document.querySelectorAll('#trajectories svg.chart [data-name=other]').length") >= 1,
          "trajectories of both runs lie over each other")
    check("optimise.particles" in page.run("document.getElementById('differences').textContent"),
          "settings that differ are named")
    check(not page.console, f"nothing on the console: {page.console[:2]}")
finally:
    browser.close()
sys.exit(failures != 0)
