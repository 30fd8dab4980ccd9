/* live.js - a run as it goes. Messages:
 *   {type: "phase", trial, text}
 *   {type: "step", trial, candidate, step, steps_max, cost, rate, left}
 *   {type: "scene", ts, shapes}   {type: "sample", trial, explored, t, frame}
 *   {type: "fan", trial, ts, states: [name..], low: [[..]..], mid, high}
 *   {type: "trial", trial, explored, outcome, good, cost, predicted, text, remedy, real: [[..]..]}
 *   {type: "done", text, solved, verdict, report} */
(function () {
  'use strict';
  var root = document.documentElement, state, pending = false, over = false;
  function $(id) { return document.getElementById(id); }
  function ink(n) { return getComputedStyle(root).getPropertyValue(n).trim(); }
  function reset() {
    state = { curves: [], fan: null, real: null, scene: null, frame: null, view: null, doing: '' };
    $('rows').textContent = '';
    $('fan').textContent = '';
    $('verdict').textContent = '';
  }
  function short(v) { return v === null || v === undefined ? '' : String(+(+v).toPrecision(4)); }
  function element(tag, parent, text, name) {
    var e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    parent.appendChild(e);
    return e;
  }

  /* A canvas with axes: returns {g, X, Y} for data in the ranges. */
  function ticks(low, high, wanted) {
    var raw = (high - low) / wanted, size = Math.pow(10, Math.floor(Math.log10(raw)));
    var n = raw / size, out = [];
    var step = (n < 1.5 ? 1 : n < 3.5 ? 2 : n < 7.5 ? 5 : 10) * size;
    for (var i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && out.length < 50; i++)
      out.push(i * step);
    return out;
  }
  function axes(c, x, y, xname, title) {
    var r = devicePixelRatio || 1, w = c.clientWidth, h = c.clientHeight, g = c.getContext('2d');
    c.width = w * r;
    c.height = h * r;
    g.scale(r, r);
    g.font = '11px system-ui';
    function X(v) { return 50 + (v - x[0]) / (x[1] - x[0]) * (w - 62); }
    function Y(v) { return h - 30 - (v - y[0]) / (y[1] - y[0]) * (h - 50); }
    g.strokeStyle = ink('--line');
    g.fillStyle = ink('--soft');
    g.textAlign = 'right';
    ticks(y[0], y[1], Math.max(2, h / 45)).forEach(function (v) {
      g.beginPath(); g.moveTo(50, Y(v)); g.lineTo(w - 12, Y(v)); g.stroke();
      g.fillText(short(v), 45, Y(v) + 4);
    });
    g.textAlign = 'center';
    ticks(x[0], x[1], Math.max(2, w / 90)).forEach(function (v) {
      g.beginPath(); g.moveTo(X(v), 20); g.lineTo(X(v), h - 30); g.stroke();
      g.fillText(short(v), X(v), h - 16);
    });
    g.textAlign = 'right';
    g.fillText(xname, w - 12, h - 3);
    g.textAlign = 'left';
    g.fillStyle = ink('--fg');
    g.fillText(title, 4, 12);
    return { g: g, X: X, Y: Y };
  }
  function range(list) {
    var a = Infinity, b = -Infinity;
    list.forEach(function (v) { if (v !== null && isFinite(v)) { a = Math.min(a, v); b = Math.max(b, v); } });
    if (!(b > a)) { a -= 1; b = a + 2; }
    return [a - 0.04 * (b - a), b + 0.04 * (b - a)];
  }
  function line(p, xs, ys, colour, width, alpha) {
    var g = p.g, on = false;
    g.strokeStyle = colour; g.lineWidth = width; g.globalAlpha = alpha || 1;
    g.beginPath();
    ys.forEach(function (v, i) {
      if (v === null || !isFinite(v)) { on = false; return; }
      g[on ? 'lineTo' : 'moveTo'](p.X(xs[i]), p.Y(v));
      on = true;
    });
    g.stroke();
    g.globalAlpha = 1;
  }

  function drawCost() {
    var last = state.curves.length ? state.curves[state.curves.length - 1].trial : 0, all = [], most = 1;
    var now = state.curves.filter(function (c) { return c.trial === last; });
    now.forEach(function (c) {
      all = all.concat(c.cost);
      most = Math.max(most, c.step[c.step.length - 1] || 1);
    });
    if (!all.length) return;
    var p = axes($('cost'), [0, most], range(all), 'step', 'cost, trial ' + last);
    now.forEach(function (c, i) {
      var strong = i === now.length - 1;
      line(p, c.step, c.cost, ink('--c' + (1 + i % 6)), strong ? 1.8 : 1, strong ? 1 : 0.6);
    });
  }
  function drawFan() {
    var f = state.fan, box = $('fan');
    $('nofan').hidden = !!f;
    if (!f) return;
    while (box.children.length < f.states.length) element('canvas', box).style.height = '170px';
    f.states.forEach(function (name, k) {
      var lo = f.low[k], hi = f.high[k], re = state.real && state.real[k], g;
      var t = lo.map(function (v, i) { return i * f.ts; });
      var p = axes(box.children[k], [0, t[t.length - 1]], range(lo.concat(hi, re || [])), 's', name);
      g = p.g;
      g.globalAlpha = 0.2;
      g.fillStyle = ink('--c1');
      g.beginPath();
      hi.forEach(function (v, i) { g[i ? 'lineTo' : 'moveTo'](p.X(t[i]), p.Y(v)); });
      for (var i = lo.length - 1; i >= 0; i--) g.lineTo(p.X(t[i]), p.Y(lo[i]));
      g.fill();
      g.globalAlpha = 1;
      line(p, t, f.mid[k], ink('--c1'), 1);
      if (re) line(p, t, re, ink('--c2'), 2);
    });
  }
  function drawScene() {
    var s = state.scene, v = state.frame, c = $('scene'), q = 0, view = state.view;
    if (!s || !v) return;
    var r = devicePixelRatio || 1, g = c.getContext('2d');
    var size = { line: 4, circle: 3, rectangle: 5, text: 2 };
    c.width = c.clientWidth * r;
    c.height = c.clientHeight * r;
    s.shapes.forEach(function (shape) {
      var round = shape.kind === 'circle' || shape.kind === 'rectangle';
      for (var i = 0; i < (round ? 2 : size[shape.kind]); i += 2) {
        view[0] = Math.min(view[0], v[q + i]); view[2] = Math.max(view[2], v[q + i]);
        view[1] = Math.min(view[1], v[q + i + 1]); view[3] = Math.max(view[3], v[q + i + 1]);
      }
      q += size[shape.kind];
    });
    q = 0;
    var w = 1.3 * (view[2] - view[0]) + 0.1, h = 1.3 * (view[3] - view[1]) + 0.1;
    var k = Math.min(c.width / w, c.height / h);
    function X(x) { return c.width / 2 + k * (x - (view[0] + view[2]) / 2); }
    function Y(y) { return c.height / 2 - k * (y - (view[1] + view[3]) / 2); }
    g.lineCap = 'round';
    s.shapes.forEach(function (shape) {
      var colour = ink(shape.colour) || shape.colour, i;
      g.strokeStyle = g.fillStyle = colour;
      g.lineWidth = (shape.kind === 'line' ? 4 : 2) * r;
      g.beginPath();
      if (shape.kind === 'line') {
        g.moveTo(X(v[q]), Y(v[q + 1])); g.lineTo(X(v[q + 2]), Y(v[q + 3])); g.stroke();
      } else if (shape.kind === 'circle') {
        g.arc(X(v[q]), Y(v[q + 1]), Math.max(2, Math.abs(k * v[q + 2])), 0, 7); g.fill();
      } else if (shape.kind === 'rectangle') {
        g.save(); g.translate(X(v[q]), Y(v[q + 1])); g.rotate(-v[q + 4]);
        g.strokeRect(-k * v[q + 2] / 2, -k * v[q + 3] / 2, k * v[q + 2], k * v[q + 3]); g.restore();
      } else {
        g.font = 13 * r + 'px system-ui'; g.fillText(shape.text, X(v[q]), Y(v[q + 1]));
      }
      q += size[shape.kind];
    });
  }
  function later() {
    if (pending) return;
    pending = true;
    requestAnimationFrame(function () { pending = false; drawCost(); drawFan(); drawScene(); });
  }

  var handle = {
    phase: function (m) { $('now').textContent = m.text; },
    step: function (m) {
      var last = state.curves[state.curves.length - 1];
      if (!last || last.trial !== m.trial || last.candidate !== m.candidate)
        state.curves.push(last = { trial: m.trial, candidate: m.candidate, step: [], cost: [] });
      last.step.push(m.step);
      last.cost.push(m.cost);
      $('now').textContent = 'Trial ' + m.trial + ': optimising the policy, step ' + m.step + ' of at most ' +
        m.steps_max + ', cost ' + short(m.cost);
      $('left').textContent = m.left ? 'about ' + m.left + ' left' : '';
    },
    scene: function (m) { state.scene = m; state.view = [-0.1, -0.1, 0.1, 0.1]; },
    sample: function (m) {
      state.frame = m.frame || null;
      if (!+m.t) state.view = [-0.1, -0.1, 0.1, 0.1]; /* each trial has a view of its own */
      $('doing').textContent = (m.explored ? 'Exploration ' : 'Trial ') + m.trial + ' on the plant, ' +
        (+m.t).toFixed(2) + ' s';
    },
    fan: function (m) { state.fan = m; state.real = null; },
    trial: function (m) {
      var row = element('tr', $('rows'));
      if (!m.explored) state.real = m.real || null;
      [['Trial', (m.explored ? 'exploration ' : 'trial ') + m.trial], ['Outcome', m.outcome],
       ['Forecast cost', short(m.predicted)], ['Cost', short(m.cost)], ['Diagnosis', m.text || '']]
        .forEach(function (cell, i) {
          var td = element('td', row);
          td.dataset.name = cell[0];
          if (i === 1 || i === 4) td.className = 'text';
          if (i === 1) element('span', td, cell[1], m.good ? 'good' : m.explored ? 'soft' : 'bad');
          else td.textContent = cell[1];
        });
    },
    done: function (m, events) {
      over = true;
      $('now').textContent = m.text;
      $('left').textContent = '';
      $('stop').hidden = true;
      if (m.verdict) {
        var card = element('div', $('verdict'), undefined, 'card ' + (m.solved ? 'good-card' : 'bad-card'));
        element('p', card, m.verdict, m.solved ? 'good' : '');
      }
      if (!m.report) { events.close(); return; }
      fetch('/report').then(function (r) { return r.blob(); }).then(function (blob) {
        var a = element('a', $('end'), 'Open the report');
        a.href = URL.createObjectURL(blob);
        a.target = '_blank';
        a.id = 'report';
        events.close();
      }).catch(function () { events.close(); });
    }
  };

  $('stop').onclick = function () {
    if (!confirm('Stop the run? What is finished is kept, and --resume goes on with it.')) return;
    fetch('/stop', { method: 'POST', headers: { 'X-Mcpilco': 'stop' } }).then(function (r) {
      $('end').textContent = r.ok ? 'stopping' : 'refused: only on the machine that runs it';
    });
  };
  reset();
  var events = new EventSource('/events');
  events.onopen = function () { reset(); $('now').textContent = 'connected'; };
  events.onmessage = function (e) {
    var m = JSON.parse(e.data);
    if (handle[m.type]) handle[m.type](m, events);
    later();
  };
  events.onerror = function () {
    if (!over && events.readyState !== 2) $('now').textContent = 'waiting for the program';
  };
  addEventListener('resize', later);
}());
