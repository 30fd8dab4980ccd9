/* live_page.c - cost curve, particle fan and trials, drawn as the messages come.
 * Messages: {type:"phase", trial, text}  {type:"step", trial, step, steps_max, cost, rate}  {type:"fan",
 * trial, ts, states:[name..], low:[[..]..], mid, high}  {type:"trial", trial, success, cost, predicted,
 * real:[[..]..]}  {type:"done", text}. */
#include "report/live_page.h"

#include "report/page.h"
#include "report/plot.h"

static const char script[] =
    "(function(){'use strict';var cost=[],marks=[],fan=null,real=null,$=function(i){return "
    "document.getElementById(i)};"
    "function ink(n){return getComputedStyle(document.documentElement).getPropertyValue(n).trim()}"
    "function prep(c){var r=devicePixelRatio||1;c.width=c.clientWidth*r;c.height=c.clientHeight*r;var "
    "g=c.getContext('2d');g.scale(r,r);"
    "g.clearRect(0,0,c.clientWidth,c.clientHeight);g.font='11px system-ui';return g}"
    "function range(l){var "
    "a=Infinity,b=-Infinity;l.forEach(function(v){if(isFinite(v)){a=Math.min(a,v);b=Math.max(b,v)}});"
    "if(!(b>a)){a-=1;b=a+2}return[a,b]}"
    "function "
    "line(g,ys,X,Y,col,w){g.strokeStyle=col;g.lineWidth=w;g.beginPath();ys.forEach(function(v,i){if(v===null)"
    "return;"
    "i?g.lineTo(X(i),Y(v)):g.moveTo(X(i),Y(v))});g.stroke()}"
    "function drawCost(){var "
    "c=$('cost'),g=prep(c),w=c.clientWidth,h=c.clientHeight;if(cost.length<2)return;var r=range(cost),"
    "X=function(i){return 46+i*(w-56)/(cost.length-1)},Y=function(v){return "
    "h-18-(v-r[0])/(r[1]-r[0])*(h-30)};g.fillStyle=ink('--soft');"
    "g.fillText(r[1].toPrecision(4),2,14);g.fillText(r[0].toPrecision(4),2,h-16);marks.forEach(function(m){g."
    "strokeStyle=ink('--line');"
    "g.beginPath();g.moveTo(X(m.at),4);g.lineTo(X(m.at),h-18);g.stroke();g.fillText('trial "
    "'+m.trial,X(m.at)+3,h-4)});"
    "line(g,cost,X,Y,ink('--c1'),1.4)}"
    "function drawFan(){if(!fan)return;var box=$('fan');while(box.children.length<fan.states.length){var "
    "f=document.createElement('canvas');"
    "f.style.cssText='width:100%;height:150px';box.appendChild(f)}fan.states.forEach(function(n,k){var "
    "c=box.children[k],g=prep(c),"
    "w=c.clientWidth,h=c.clientHeight,lo=fan.low[k],hi=fan.high[k],re=real&&real[k],r=range(lo.concat(hi,re||"
    "[])),"
    "X=function(i){return 46+i*(w-56)/(lo.length-1)},Y=function(v){return "
    "h-16-(v-r[0])/(r[1]-r[0])*(h-34)};g.fillStyle=ink('--fg');"
    "g.fillText(n,46,12);g.fillStyle=ink('--soft');g.fillText(r[1].toPrecision(3),2,26);g.fillText(r[0]."
    "toPrecision(3),2,h-14);"
    "g.globalAlpha=.2;g.fillStyle=ink('--c1');g.beginPath();hi.forEach(function(v,i){i?g.lineTo(X(i),Y(v)):g."
    "moveTo(X(i),Y(v))});"
    "for(var "
    "i=lo.length-1;i>=0;i--)g.lineTo(X(i),Y(lo[i]));g.fill();g.globalAlpha=1;line(g,fan.mid[k],X,Y,ink('--c1'"
    "),1);"
    "if(re)line(g,re,X,Y,ink('--c2'),2)})}"
    "var pending=false;function "
    "later(){if(!pending){pending=true;requestAnimationFrame(function(){pending=false;drawCost();drawFan()})}"
    "}"
    "function row(m){var t=document.createElement('tr');['Trial '+m.trial,m.success?'solved':'not "
    "solved',m.predicted===null?'':m.predicted.toPrecision(4),"
    "m.cost.toPrecision(4)].forEach(function(s){var "
    "d=document.createElement('td');d.textContent=s;t.appendChild(d)});$('rows').appendChild(t)}"
    "function reset(){cost=[];marks=[];fan=null;real=null;$('rows').textContent='';$('fan').textContent=''}"
    "var es=new "
    "EventSource('/"
    "events');es.onopen=function(){reset();$('now').textContent='connected'};es.onmessage=function(e){var "
    "m=JSON.parse(e.data);"
    "if(m.type==='step'){if(!marks.length||marks[marks.length-1].trial!==m.trial)marks.push({at:cost.length,"
    "trial:m.trial});cost.push(m.cost);"
    "$('now').textContent='trial '+m.trial+', step '+m.step+' of at most '+m.steps_max+', cost "
    "'+(+m.cost).toPrecision(4)+', learning rate '+m.rate}"
    "else if(m.type==='phase')$('now').textContent='trial '+m.trial+': '+m.text;else "
    "if(m.type==='fan'){fan=m;real=null}"
    "else if(m.type==='trial'){real=m.real||null;row(m)}else "
    "if(m.type==='done'){$('now').textContent=m.text;es.close()}later()};"
    "es.onerror=function(){if(es.readyState!==2)$('now').textContent='waiting for the "
    "program'};addEventListener('resize',later)})();";

void mcp_live_page(mcp_text *out, const char *title)
{
    mcp_page_begin(out, title);
    mcp_text_add(out, "<h1>");
    mcp_text_escaped(out, title);
    mcp_text_add(
        out,
        "</h1><p class='lead' id='now'>connecting</p>"
        "<h2>Cost while the policy is optimised</h2><canvas id='cost' "
        "style='width:100%%;height:220px'></canvas>"
        "<h2>Forecast (band) and what the plant did (line)</h2>"
        "<style>#fan:empty:after{content:'Comes with the first policy.';color:var(--soft)}</style><div "
        "id='fan' class='grid2'></div>"
        "<h2>Trials</h2><div class='wide'><table><thead><tr><th>Trial</th><th>Outcome</th><th>Predicted "
        "cost</th><th>Real cost</th></tr></thead>"
        "<tbody id='rows'></tbody></table></div><noscript><p>This page needs JavaScript; the report of a "
        "finished run does not.</p></noscript>"
        "<script>%s</script>",
        script);
    mcp_page_end(out);
}
