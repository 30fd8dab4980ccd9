/* page.js - charts that answer: values under the pointer, one cursor for all charts of a trial and its
 * animation, zoom by dragging, downloads. The numbers are read back from the drawings (src/report/plot.h). */
(function () {
  'use strict';
  var SCALE = 100, root = document.documentElement, charts = [], seekers = {};
  root.classList.add('js');

  function element(tag, attributes, parent, text) {
    var svg = parent && parent.namespaceURI.indexOf('svg') > 0;
    var e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (k) { e.setAttribute(k, attributes[k]); });
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }
  function numbers(text) { return (text || '').trim().split(/\s+/).map(Number); }
  function short(v) {
    if (!isFinite(v)) return '';
    var a = Math.abs(v);
    return a !== 0 && (a >= 1e5 || a < 1e-3) ? v.toExponential(2) : String(+v.toPrecision(4));
  }

  /* "M1 2l3 4m5 6h0Z" to a list of absolute points */
  function points(d) {
    var out = [], x = 0, y = 0, part = /([MlmLhZ])([^MlmLhZ]*)/g, m;
    while ((m = part.exec(d))) {
      if (m[1] === 'Z' || m[1] === 'h') continue;
      var v = numbers(m[2]), relative = m[1] === 'l' || m[1] === 'm';
      for (var i = 0; i + 1 < v.length; i += 2) {
        x = relative ? x + v[i] : v[i];
        y = relative ? y + v[i + 1] : v[i + 1];
        out.push([x, y]);
      }
    }
    return out;
  }

  function Chart(svg) {
    var f = numbers(svg.dataset.frame), x = numbers(svg.dataset.x), y = numbers(svg.dataset.y), self = this;
    this.svg = svg;
    this.left = f[0]; this.top = f[1]; this.width = f[2] - f[0]; this.height = f[3] - f[1];
    this.range = x; this.shown = x.slice(); this.values = y; this.log = svg.dataset.log === '1';
    this.group = svg.dataset.group || ''; this.unit = svg.dataset.unit || '';
    this.title = svg.getAttribute('aria-label') || 'chart';
    this.plot = svg.querySelector('.plot');
    this.figure = svg.closest('figure') || svg.parentNode;
    this.series = [].map.call(this.plot.querySelectorAll('[data-name]'), function (path) {
      return self.read(path);
    });
    this.cursor = element('path', { 'class': 'cursor', d: '' }, svg);
    this.tools();
    this.listen();
  }
  Chart.prototype.toX = function (px) {
    return this.range[0] + px / SCALE / this.width * (this.range[1] - this.range[0]);
  };
  Chart.prototype.toY = function (py) {
    var v = this.values[1] - py / SCALE / this.height * (this.values[1] - this.values[0]);
    return this.log ? Math.pow(10, v) : v;
  };
  Chart.prototype.read = function (path) {
    var p = points(path.getAttribute('d')), kind = path.dataset.kind, self = this, out = [], i;
    var at = function (q) { return self.toX(q[0]); }, value = function (q) { return self.toY(q[1]); };
    if (kind === 'band') {
      for (i = 0; i < p.length / 2; i++) out.push([at(p[i]), value(p[p.length - 1 - i]), value(p[i])]);
    } else if (kind === 'bars') {
      for (i = 0; i + 3 < p.length; i += 4) out.push([(at(p[i]) + at(p[i + 2])) / 2, value(p[i + 1])]);
    } else if (kind === 'range') {
      for (i = 0; i + 5 < p.length; i += 6) out.push([at(p[i + 2]), value(p[i + 3]), value(p[i + 2])]);
    } else out = p.map(function (q) { return [at(q), value(q)]; });
    return { name: path.dataset.name, kind: kind, rows: out, colour: path.classList[0] };
  };
  function nearest(rows, x) {
    var best = null, far = Infinity;
    rows.forEach(function (r) {
      var d = Math.abs(r[0] - x);
      if (d < far) { far = d; best = r; }
    });
    return best;
  }

  /* The cursor at x, in the chart's own unit; null hides it. */
  Chart.prototype.point = function (x) {
    var a = this.shown, inside = x !== null && x >= a[0] && x <= a[1];
    this.at = inside ? x : null;
    var px = inside ? this.left + (x - a[0]) / (a[1] - a[0]) * this.width : 0;
    this.cursor.setAttribute('d', inside ? 'M' + px.toFixed(1) + ' ' + this.top + 'v' + this.height : '');
  };
  Chart.prototype.tell = function (x) {
    var self = this;
    if (x === null) {
      if (this.tip) this.tip.hidden = true;
      return;
    }
    if (!this.tip) this.tip = element('div', { 'class': 'tip' }, this.figure);
    this.tip.hidden = false;
    this.tip.textContent = '';
    element('div', {}, this.tip, short(x) + (this.unit ? ' ' + this.unit : ''));
    this.series.forEach(function (s) {
      var row = nearest(s.rows, x), span = (self.shown[1] - self.shown[0]) / 20;
      if (!row || Math.abs(row[0] - x) > Math.max(span, 0.6 * (self.svg.dataset.integers ? 1 : 0))) return;
      var line = element('div', { 'class': s.colour }, self.tip);
      element('i', {}, line);
      element('span', {}, line, s.name + ' ' + row.slice(1).map(short).join(' … '));
    });
    var share = (x - this.shown[0]) / (this.shown[1] - this.shown[0]);
    var box = this.svg.getBoundingClientRect(), zoom = box.width / this.svg.viewBox.baseVal.width;
    var px = (this.left + share * this.width) * zoom;
    this.tip.style.top = (this.svg.offsetTop || 0) + this.top * zoom + 'px';
    this.tip.style.left = share < 0.5 ? px + 12 + 'px' : '';
    this.tip.style.right = share < 0.5 ? '' : box.width - px + 12 + 'px';
  };

  /* Only time is zoomed: what the eye compares keeps its height. */
  Chart.prototype.zoom = function (a, b) {
    var full = this.range[1] - this.range[0], w = this.width * SCALE, self = this;
    this.shown = [a, b];
    this.plot.setAttribute('viewBox', (a - this.range[0]) / full * w + ' 0 ' + (b - a) / full * w + ' ' +
                           this.height * SCALE);
    [].forEach.call(this.svg.querySelectorAll('g.x'), function (g) { g.remove(); });
    ticks(a, b, Math.max(2, this.width / 70), this.svg.dataset.integers).forEach(function (t) {
      var g = element('g', { 'class': 'x' }, self.svg), x = self.left + (t - a) / (b - a) * self.width;
      self.svg.insertBefore(g, self.svg.firstChild);
      element('path', { 'class': 'grid', d: 'M' + x.toFixed(1) + ' ' + self.top + 'v' + self.height }, g);
      element('text', { x: x.toFixed(1), y: self.top + self.height + 14, 'text-anchor': 'middle' }, g,
              short(t));
    });
  };
  function ticks(low, high, wanted, whole) {
    var raw = (high - low) / wanted, size = Math.pow(10, Math.floor(Math.log10(raw)));
    var n = raw / size, out = [];
    var step = (n < 1.5 ? 1 : n < 3.5 ? 2 : n < 7.5 ? 5 : 10) * size;
    if (whole && step < 1) step = 1;
    for (var i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && out.length < 50; i++)
      out.push(i * step);
    return out;
  }

  function family(chart) {
    return chart.group ? charts.filter(function (c) { return c.group === chart.group; }) : [chart];
  }
  function share(group, x, from) {
    charts.forEach(function (c) { if (c.group === group && c !== from) c.point(x); });
  }
  Chart.prototype.place = function (event) {
    var box = this.svg.getBoundingClientRect(), zoom = box.width / this.svg.viewBox.baseVal.width;
    var s = ((event.clientX - box.left) / zoom - this.left) / this.width;
    return s < -0.02 || s > 1.02 ? null :
      this.shown[0] + Math.min(1, Math.max(0, s)) * (this.shown[1] - this.shown[0]);
  };
  Chart.prototype.listen = function () {
    var self = this, from = null, pick = null;
    function drop() { if (pick) pick.remove(); pick = null; from = null; }
    function px(x) { return self.left + (x - self.shown[0]) / (self.shown[1] - self.shown[0]) * self.width; }
    this.svg.addEventListener('pointermove', function (e) {
      var x = self.place(e);
      family(self).forEach(function (c) { c.point(x); });
      self.tell(x);
      if (self.group && x !== null && seekers[self.group]) seekers[self.group](x);
      if (from !== null && x !== null && Math.abs(px(x) - px(from)) > 4) {
        if (!pick) pick = element('rect', { 'class': 'pick', y: self.top, height: self.height }, self.svg);
        pick.setAttribute('x', Math.min(px(x), px(from)));
        pick.setAttribute('width', Math.abs(px(x) - px(from)));
      }
    });
    this.svg.addEventListener('pointerdown', function (e) { if (e.button === 0) from = self.place(e); });
    this.svg.addEventListener('pointerup', function (e) {
      var x = self.place(e), a = from, chosen = pick;
      drop();
      if (!chosen || x === null || a === null) return;
      family(self).forEach(function (c) { c.zoom(Math.min(a, x), Math.max(a, x)); });
    });
    this.svg.addEventListener('pointerleave', function () {
      family(self).forEach(function (c) { c.point(null); });
      self.tell(null);
      drop();
    });
    this.svg.addEventListener('dblclick', function () {
      family(self).forEach(function (c) { c.zoom(c.range[0], c.range[1]); });
    });
  };

  /* Downloads. */
  function save(name, type, text) {
    var a = element('a', { download: name, href: URL.createObjectURL(new Blob([text], { type: type })) });
    document.body.appendChild(a);
    a.click();
    a.remove();
  }
  function quoted(s) { return /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s; }
  Chart.prototype.csv = function () {
    var head = ['x'], at = {}, self = this;
    this.series.forEach(function (s, i) {
      var two = s.kind === 'band' || s.kind === 'range';
      head.push.apply(head, two ? [s.name + ' low', s.name + ' high'] : [s.name]);
      s.rows.forEach(function (r) {
        var key = r[0].toPrecision(6);
        at[key] = at[key] || { x: r[0], of: {} };
        at[key].of[i] = r.slice(1);
      });
    });
    var rows = Object.keys(at).map(function (k) { return at[k]; });
    rows.sort(function (a, b) { return a.x - b.x; });
    return head.map(quoted).join(',') + '\n' + rows.map(function (row) {
      return [row.x.toPrecision(6)].concat.apply([row.x.toPrecision(6)], self.series.map(function (s, i) {
        var n = s.kind === 'band' || s.kind === 'range' ? 2 : 1, v = row.of[i] || [];
        return [0, 1].slice(0, n).map(function (k) { return v[k] === undefined ? '' : v[k].toPrecision(6); });
      })).join(',');
    }).join('\n') + '\n';
  };
  var KEPT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'fill-opacity',
              'stroke-opacity', 'font-size', 'font-weight', 'font-family', 'vector-effect'];
  Chart.prototype.drawing = function () {
    var copy = this.svg.cloneNode(true);
    var from = this.svg.querySelectorAll('*'), to = copy.querySelectorAll('*');
    [].forEach.call(from, function (e, i) {
      var style = getComputedStyle(e);
      KEPT.forEach(function (k) { to[i].style.setProperty(k, style.getPropertyValue(k)); });
    });
    [].forEach.call(copy.querySelectorAll('.cursor, .pick'), function (e) { e.remove(); });
    copy.style.background = getComputedStyle(document.body).backgroundColor;
    return new XMLSerializer().serializeToString(copy);
  };
  Chart.prototype.tools = function () {
    var box = element('div', { 'class': 'tools noprint' }, this.figure), self = this;
    var name = ((this.group ? this.group + '-' : '') + this.title).replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-|-$/g, '');
    [['CSV', 'text/csv', 'csv', 'the numbers'],
     ['SVG', 'image/svg+xml', 'svg', 'the drawing']].forEach(function (b) {
      element('button', { type: 'button', title: 'Download ' + b[3], 'data-save': b[2] }, box, b[0])
        .addEventListener('click', function () {
          save(name + '.' + b[2], b[1], b[2] === 'csv' ? self.csv() : self.drawing());
        });
    });
    element('button', { type: 'button', title: 'Show all (or double-click)' }, box, '1:1')
      .addEventListener('click', function () {
        family(self).forEach(function (c) { c.zoom(c.range[0], c.range[1]); });
      });
  };

  charts = [].map.call(document.querySelectorAll('svg.chart'), function (svg) { return new Chart(svg); });

  /* The animation: {ts, shapes: [{kind, colour, text}], trials: [{name, group, view: [x0, y0, x1, y1],
   * real: [frame..], ghosts: [[frame..]..]}]}; a frame is a flat list, per shape: line x y x2 y2, circle x y
   * r, rectangle x y width height angle, text x y. */
  var data = document.getElementById('animation-data');
  if (data) player(JSON.parse(data.textContent));
  function player(d) {
    if (!d.trials.length) return;
    function $(id) { return document.getElementById(id); }
    var c = $('stage'), g = c.getContext('2d'), pick = $('pick'), scrub = $('scrub'), play = $('play');
    var size = { line: 4, circle: 3, rectangle: 5, text: 2 };
    var t = 0, last = null, on = !matchMedia('(prefers-reduced-motion: reduce)').matches;
    d.trials.forEach(function (trial, i) {
      element('option', { value: i }, pick, trial.name);
      seekers[trial.group] = function (x) { on = false; pick.value = i; t = x; label(); paint(); };
    });
    pick.value = d.trials.length - 1;
    function colour(n) { return getComputedStyle(root).getPropertyValue(n).trim() || n; }
    function frame(list, time) {
      var n = list.length - 1, k = Math.min(n, Math.max(0, time / d.ts)), i = Math.floor(k), f = k - i;
      var a = list[i], b = list[Math.min(n, i + 1)];
      return a.map(function (v, j) { return v + (b[j] - v) * f; });
    }
    function draw(v, view, alpha, ghost) {
      var w = c.width, h = c.height, s = Math.min(w / (view[2] - view[0]), h / (view[3] - view[1])), p = 0;
      var ox = w / 2 - s * (view[0] + view[2]) / 2, oy = h / 2 + s * (view[1] + view[3]) / 2;
      var dpr = devicePixelRatio || 1;
      function X(x) { return ox + s * x; }
      function Y(y) { return oy - s * y; }
      g.lineCap = 'round';
      d.shapes.forEach(function (q) {
        var col = ghost ? colour('--faint') : colour(q.colour);
        g.globalAlpha = alpha; g.strokeStyle = col; g.fillStyle = col;
        g.lineWidth = (q.kind === 'line' ? 4 : 2) * dpr;
        g.beginPath();
        if (q.kind === 'line') {
          g.moveTo(X(v[p]), Y(v[p + 1])); g.lineTo(X(v[p + 2]), Y(v[p + 3])); g.stroke();
        } else if (q.kind === 'circle') {
          g.arc(X(v[p]), Y(v[p + 1]), Math.max(1, Math.abs(s * v[p + 2])), 0, 7); g.fill();
        } else if (q.kind === 'rectangle') {
          g.save(); g.translate(X(v[p]), Y(v[p + 1])); g.rotate(-v[p + 4]);
          g.rect(-s * v[p + 2] / 2, -s * v[p + 3] / 2, s * v[p + 2], s * v[p + 3]); g.stroke();
          g.globalAlpha = alpha * 0.25; g.fill(); g.restore();
        } else if (!ghost) {
          g.font = 13 * dpr + 'px system-ui'; g.fillText(q.text, X(v[p]), Y(v[p + 1]));
        }
        p += size[q.kind];
      });
    }
    function paint() {
      var trial = d.trials[pick.value], dpr = devicePixelRatio || 1, end = (trial.real.length - 1) * d.ts;
      if (c.width !== Math.round(c.clientWidth * dpr)) {
        c.width = Math.round(c.clientWidth * dpr); c.height = Math.round(c.clientHeight * dpr);
      }
      g.globalAlpha = 1;
      g.clearRect(0, 0, c.width, c.height);
      (trial.ghosts || []).forEach(function (q) { draw(frame(q, t), trial.view, 0.35, true); });
      draw(frame(trial.real, Math.min(t, end)), trial.view, 1, false);
      scrub.max = end; scrub.value = t;
      $('clock').textContent = Math.min(t, end).toFixed(2) + ' s of ' + end.toFixed(2) + ' s';
    }
    function follow() { share(d.trials[pick.value].group, t, null); }
    function loop(now) {
      if (on) {
        var trial = d.trials[pick.value], end = (trial.real.length - 1) * d.ts;
        if (last !== null) t += (now - last) / 1000 * $('speed').value;
        if (t > end + 0.7) t = 0;
        paint();
        follow();
      }
      last = now;
      requestAnimationFrame(loop);
    }
    function label() { play.textContent = on ? 'Pause' : 'Play'; }
    play.onclick = function () { on = !on; label(); };
    scrub.oninput = function () { on = false; t = +scrub.value; label(); paint(); follow(); };
    pick.onchange = function () { t = 0; paint(); };
    addEventListener('resize', paint);
    label();
    paint();
    requestAnimationFrame(loop);
  }
}());
