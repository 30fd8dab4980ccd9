/* page.c - style and script of a report page. */
#include "report/page.h"

#include "report/plot.h"

static const char style[] =
    ":root{color-scheme:light "
    "dark;--bg:#fff;--fg:#1d2126;--soft:#5b6570;--line:#e3e6ea;--card:#f6f7f9;--c-ink:#222;"
    "--c1:#2463b0;--c2:#c8501e;--c3:#1f8a5b;--c4:#8a4fb5;--c5:#b8860b;--c6:#c0326b;--faint:#b9bfc6;--good:#"
    "1f8a5b;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e4e7eb;--soft:#9aa4af;--line:#2c323a;--card:#"
    "1c2026;--c-ink:#e4e7eb;"
    "--c1:#6ea8ff;--c2:#ff9468;--c3:#5fd0a0;--c4:#c79bf0;--c5:#e3bd55;--c6:#ff86b0;--faint:#5a636e;--good:#"
    "5fd0a0;--bad:#ff8a80}}\n"
    "@media print{:root{color-scheme:light}.noprint{display:none!important}details{break-inside:avoid}}\n"
    "*{box-sizing:border-box}body{margin:0 "
    "auto;padding:1.2rem;max-width:1120px;background:var(--bg);color:var(--fg);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif}\n"
    "h1{font-size:1.6rem;margin:.2rem 0}h2{font-size:1.2rem;margin:2rem 0 .6rem;border-bottom:1px solid "
    "var(--line);padding-bottom:.25rem}"
    "h3{font-size:1rem;margin:1.1rem 0 .4rem}p{margin:.5rem 0}a{color:var(--c1)}\n"
    "nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.6rem "
    "0;font-size:.92rem}.soft,figcaption{color:var(--soft)}"
    "figcaption{font-size:.86rem;margin:.1rem 0 .6rem}\n"
    ".lead{font-size:1.1rem}.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem "
    "1rem;margin:.7rem 0}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}"
    "th,td{padding:.28rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left}th{color:var(--soft);font-weight:600}\n"
    ".grid2{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:.6rem}figure{"
    "margin:0;min-width:0}"
    "svg{max-width:100%;height:auto;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}"
    "svg .t{font-weight:600;font-size:12px;fill:var(--fg)}svg .grid{stroke:var(--line)}svg "
    ".axis{stroke:var(--faint)}"
    "svg .m{paint-order:stroke;stroke:var(--bg);stroke-width:3px}@media(max-width:640px){svg text,svg "
    ".t{font-size:14px}svg .k{font-size:12px}th,td{padding:.28rem .35rem}}\n"
    "svg .s{fill:none;stroke:var(--c)}svg "
    ".f{stroke:none;fill:var(--c)}.ink{--c:var(--c-ink)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}"
    ".c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}.c6{--c:var(--c6)}.faint{--c:var(--faint)}\n"
    "details{border:1px solid var(--line);border-radius:8px;padding:.3rem .9rem;margin:.5rem "
    "0}summary{cursor:pointer;font-weight:600}"
    "pre{background:var(--card);border:1px solid "
    "var(--line);border-radius:6px;padding:.7rem;overflow-x:auto;font-size:.84rem}"
    "code{background:var(--card);padding:.05rem .3rem;border-radius:4px;font-size:.9em}pre "
    "code{background:none;padding:0}\n"
    "#stage{width:100%;height:340px;background:var(--card);border:1px solid "
    "var(--line);border-radius:8px;display:none}"
    ".js #stage{display:block}.js "
    ".strip{display:none}.controls{display:none;gap:.6rem;align-items:center;flex-wrap:wrap;margin:.5rem 0}"
    ".js .controls{display:flex}.controls "
    "input[type=range]{flex:1;min-width:140px}button,select{font:inherit;padding:.2rem .7rem;"
    "border:1px solid var(--line);border-radius:6px;background:var(--card);color:var(--fg)}\n";

void mcp_page_begin(mcp_text *out, const char *title)
{
    mcp_text_add(out, "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
                      "<meta name='viewport' content='width=device-width,initial-scale=1'><title>");
    mcp_text_escaped(out, title);
    mcp_text_add(out, "</title><link rel='icon' href='data:,'><style>%s</style></head><body>\n", style);
}

void mcp_page_section(mcp_text *out, const char *id, const char *heading)
{
    mcp_text_add(out, "<section id='%s'><h2>", id);
    mcp_text_escaped(out, heading);
    mcp_text_add(out, "</h2>\n");
}

void mcp_page_close(mcp_text *out) { mcp_text_add(out, "</section>\n"); }
void mcp_page_end(mcp_text *out) { mcp_text_add(out, "</body></html>\n"); }

/* Data: {ts, shapes:[{kind,colour,text}], trials:[{name, view:[x0,y0,x1,y1], real:[frame..],
 * ghosts:[[frame..]..]}]}; a frame is a flat list, per shape: line x y x2 y2, circle x y r, rectangle x y
 * width height angle, text x y. */
static const char player[] =
    "(function(){'use strict';var el=document.getElementById('animation-data');if(!el)return;var "
    "d=JSON.parse(el.textContent);"
    "if(!d.trials.length)return;document.documentElement.classList.add('js');var "
    "c=document.getElementById('stage'),g=c.getContext('2d'),"
    "pick=document.getElementById('pick'),scrub=document.getElementById('scrub'),play=document."
    "getElementById('play'),"
    "clock=document.getElementById('clock'),speed=document.getElementById('speed');var "
    "size={line:4,circle:3,rectangle:5,text:2};"
    "d.trials.forEach(function(t,i){var "
    "o=document.createElement('option');o.value=i;o.textContent=t.name;pick.appendChild(o)});"
    "pick.value=d.trials.length-1;var t=0,last=null,on=!matchMedia('(prefers-reduced-motion: "
    "reduce)').matches;"
    "function colour(n){return getComputedStyle(document.documentElement).getPropertyValue(n).trim()||n}"
    "function frame(list,time){var "
    "n=list.length-1,k=Math.min(n,time/d.ts),i=Math.floor(k),f=k-i,a=list[i],b=list[Math.min(n,i+1)];"
    "return a.map(function(v,j){return v+(b[j]-v)*f})}"
    "function draw(v,v0,alpha,ghost){var w=c.width,h=c.height,s=Math.min(w/(v0[2]-v0[0]),h/(v0[3]-v0[1])),"
    "ox=w/2-s*(v0[0]+v0[2])/2,oy=h/2+s*(v0[1]+v0[3])/"
    "2,p=0,dpr=devicePixelRatio||1;g.globalAlpha=alpha;g.lineCap='round';"
    "function X(x){return ox+s*x}function Y(y){return oy-s*y}"
    "d.shapes.forEach(function(q){var "
    "col=ghost?colour('--faint'):colour(q.colour);g.strokeStyle=col;g.fillStyle=col;g.lineWidth=(q.kind==='"
    "line'?4:2)*dpr;g.beginPath();"
    "if(q.kind==='line'){g.moveTo(X(v[p]),Y(v[p+1]));g.lineTo(X(v[p+2]),Y(v[p+3]));g.stroke()}"
    "else if(q.kind==='circle'){g.arc(X(v[p]),Y(v[p+1]),Math.max(1,Math.abs(s*v[p+2])),0,7);g.fill()}"
    "else "
    "if(q.kind==='rectangle'){g.save();g.translate(X(v[p]),Y(v[p+1]));g.rotate(-v[p+4]);g.strokeRect(-s*v[p+"
    "2]/2,-s*v[p+3]/2,s*v[p+2],s*v[p+3]);"
    "g.globalAlpha=alpha*.25;g.fillRect(-s*v[p+2]/2,-s*v[p+3]/2,s*v[p+2],s*v[p+3]);g.restore()}"
    "else if(q.kind==='text'&&!ghost){g.font=13*dpr+'px "
    "system-ui';g.fillText(q.text,X(v[p]),Y(v[p+1]))}p+=size[q.kind]})}"
    "function paint(){var tr=d.trials[pick.value],dpr=devicePixelRatio||1,end=(tr.real.length-1)*d.ts;"
    "if(c.width!==Math.round(c.clientWidth*dpr)){c.width=Math.round(c.clientWidth*dpr);c.height=Math.round(c."
    "clientHeight*dpr)}"
    "g.globalAlpha=1;g.clearRect(0,0,c.width,c.height);(tr.ghosts||[]).forEach(function(q){draw(frame(q,t),"
    "tr.view,.35,true)});"
    "draw(frame(tr.real,Math.min(t,end)),tr.view,1,false);scrub.max=end;scrub.value=t;clock.textContent=t."
    "toFixed(2)+' s of '+end.toFixed(2)+' s'}"
    "function loop(now){if(on){var "
    "tr=d.trials[pick.value],end=(tr.real.length-1)*d.ts;if(last!==null)t+=(now-last)/1000*speed.value;"
    "if(t>end+.7)t=0;paint()}last=now;requestAnimationFrame(loop)}"
    "function "
    "label(){play.textContent=on?'Pause':'Play'}play.onclick=function(){on=!on;label()};scrub.oninput="
    "function(){on=false;t=+scrub.value;label();paint()};"
    "pick.onchange=function(){t=0;paint()};addEventListener('resize',paint);label();paint();"
    "requestAnimationFrame(loop)})();";

void mcp_page_player(mcp_text *out)
{
    mcp_text_add(
        out,
        "<canvas id='stage' role='img' aria-label='Animation of a trial'></canvas>"
        "<div class='controls noprint'><button id='play' type='button'>Play</button>"
        "<input id='scrub' type='range' min='0' step='0.01' value='0' aria-label='time'>"
        "<span id='clock' class='soft'></span><label>trial <select id='pick'></select></label>"
        "<label>speed <select id='speed'><option value='1'>1</option><option value='0.5'>1/2</option>"
        "<option value='0.25'>1/4</option></select></label></div>\n<script>%s</script>\n",
        player);
}
