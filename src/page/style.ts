/** The page's style sheet; light and dark as the system has it. */
export const style = /* css */ `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --panel: #ffffff; --sunk: #fafbfc; --line: #d9dee5; --text: #1c2330; --muted: #566070;
  --accent: #0a58a8; --on-accent: #ffffff; --key: #0a4d8c; --string: #1d6b3a; --literal: #8a3b0c;
  --dropped: #a01519; --dropped-ground: #fdeaea; --approximated: #734600; --approximated-ground: #fff2d4;
  --synthesized: #0a5260; --synthesized-ground: #e0f3f5; --differs: #55349a; --differs-ground: #efe9fb;
  --well: #1b6a3c; --well-ground: #e5f5ea; --mark: #ffe27a;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11141a; --panel: #181c23; --sunk: #14181e; --line: #2d3440; --text: #e3e8ef; --muted: #9ca8b8;
    --accent: #7fb8ff; --on-accent: #0c1622; --key: #93c5fd; --string: #8fd6a4; --literal: #f0b285;
    --dropped: #ffa3a3; --dropped-ground: #3a1d21; --approximated: #f2c268; --approximated-ground: #362a12;
    --synthesized: #83d6e1; --synthesized-ground: #12313a; --differs: #c9b3fb; --differs-ground: #2b2343;
    --well: #8fd6a4; --well-ground: #16301f; --mark: #5c4b10;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 3.5rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 14px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1, h2, h3, p, ul, pre { margin: 0; padding: 0; }
a { color: var(--accent); }
button, select, input, textarea { font: inherit; color: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.skip { position: absolute; left: -100rem; padding: .5rem 1rem; background: var(--panel); z-index: 3; }
.skip:focus { left: .5rem; top: .5rem; }

header { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.5rem; padding: .6rem 1rem; background: var(--panel); border-bottom: 1px solid var(--line); }
h1 { font-size: 1.05rem; letter-spacing: -.01em; }
h1 span { margin-left: .5rem; color: var(--muted); font-weight: 400; }
nav { display: flex; gap: 1rem; margin-left: auto; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }

main { padding: .75rem 1rem 2rem; }
#keys { display: flex; flex-wrap: wrap; align-items: end; gap: .5rem .75rem; margin-bottom: .75rem; padding: .7rem .8rem; border: 1px solid var(--approximated); border-radius: 8px; background: var(--approximated-ground); }
#keys.quiet { border-color: var(--line); background: var(--panel); }
#keys p { flex: 1 1 20rem; align-self: center; }
#keys:not([hidden]) + #bench { height: max(34rem, calc(100vh - 11rem)); }
#key { width: 18rem; max-width: 100%; }

#bench { display: grid; grid-template-columns: minmax(20rem, 1.15fr); grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; gap: .75rem; height: max(34rem, calc(100vh - 5.2rem)); }
.panel { display: flex; flex-direction: column; min-width: 0; min-height: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); overflow: hidden; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .5rem; padding: .5rem .7rem; border-bottom: 1px solid var(--line); min-height: 2.75rem; }
h2 { font-size: .95rem; }
.head .small { margin-left: auto; }
.chips { display: flex; flex: 1 1 100%; flex-wrap: wrap; gap: .3rem; }
.fields { display: grid; grid-template-columns: minmax(9.25rem, 1.5fr) minmax(5.9rem, 1fr) minmax(5.9rem, 1fr); gap: .35rem; padding: .6rem .7rem; }
label { display: block; color: var(--muted); font-size: .8rem; }
select, input, textarea { width: 100%; padding: .3rem .45rem; border: 1px solid var(--line); border-radius: 6px; background: var(--sunk); color: var(--text); }
label + select, label + input { margin-top: .15rem; font-size: .8125rem; }
label + select { padding-inline: .3rem 0; }
::placeholder { color: var(--muted); opacity: 1; }
textarea { font: 12px/1.5 var(--mono); resize: vertical; tab-size: 2; }
#source { flex: 1 1 40%; min-height: 9rem; margin: 0 .7rem; width: auto; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .7rem; padding: .6rem .7rem; }
button { padding: .3rem .7rem; border: 1px solid var(--line); border-radius: 6px; background: var(--sunk); cursor: pointer; }
button:hover { border-color: var(--accent); }
button.main { border-color: var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; }
button.small { padding: .1rem .5rem; font-size: .8rem; }
kbd { padding: 0 .3rem; border: 1px solid var(--line); border-radius: 4px; font: .75rem var(--mono); color: var(--muted); }
#told { flex: 1 1 100%; color: var(--muted); font-size: .85rem; overflow-wrap: anywhere; }
#told code { font: 12px var(--mono); }
#told:empty { display: none; }
.fault { padding: .5rem .7rem; border-left: 3px solid var(--dropped); background: var(--dropped-ground); color: var(--dropped); overflow-wrap: anywhere; }
.question { border-left-color: var(--approximated); background: var(--approximated-ground); color: var(--approximated); }
#fault { margin: 0 .7rem .6rem; border-radius: 0 6px 6px 0; }
#choices { display: flex; flex-wrap: wrap; gap: .4rem; padding: 0 .7rem .6rem; }
.rule { padding: .3rem .7rem; border-block: 1px solid var(--line); color: var(--muted); font-size: .8rem; font-weight: 400; }
.empty { padding: .7rem; color: var(--muted); }

.code { flex: 1 1 55%; min-height: 6rem; overflow: auto; padding: .4rem 0; background: var(--sunk); font: 12px/1.5 var(--mono); }
.line { display: block; padding: 0 .7rem 0 calc(.7rem + var(--deep, 0) * 1.1em + 1.6em); text-indent: -1.6em; white-space: pre-wrap; overflow-wrap: break-word; border-left: 3px solid transparent; }
.frame { padding-block: .15rem; border-bottom: 1px solid var(--line); }
.k { color: var(--key); } .s { color: var(--string); } .l { color: var(--literal); } .e { color: var(--muted); }
.line:is(.dropped, .approximated, .synthesized, .differs) { border-left-color: var(--tone); background: var(--tone-ground); }
.member:is(.dropped, .approximated, .synthesized, .differs) { background: var(--tone-ground); box-shadow: 0 2px var(--tone); }
.lit.lit { background: var(--mark); }
.dropped { --tone: var(--dropped); --tone-ground: var(--dropped-ground); }
.approximated { --tone: var(--approximated); --tone-ground: var(--approximated-ground); }
.synthesized { --tone: var(--synthesized); --tone-ground: var(--synthesized-ground); }
.differs { --tone: var(--differs); --tone-ground: var(--differs-ground); }
.well { --tone: var(--well); --tone-ground: var(--well-ground); }
.chip { padding: 0 .4rem; border-radius: 4px; background: var(--tone-ground); color: var(--tone); font-size: .75rem; white-space: nowrap; }

.notes { flex: 0 1 auto; max-height: 42%; overflow: auto; list-style: none; border-bottom: 1px solid var(--line); }
.note { display: block; width: 100%; padding: .35rem .7rem; border: 0; border-left: 3px solid var(--tone); border-radius: 0; background: none; text-align: left; font-size: .8rem; line-height: 1.4; }
.note:hover, .note:focus-visible { background: var(--tone-ground); }
.note:focus-visible { outline-offset: -2px; }
.notes li + li { border-top: 1px solid var(--line); }
.note b { color: var(--tone); font-weight: 600; }
.note code { font: 11.5px var(--mono); overflow-wrap: anywhere; }
.note .path { color: var(--key); }
.note .reason { display: block; color: var(--muted); overflow-wrap: anywhere; }

#more { display: grid; align-items: start; grid-template-columns: minmax(0, 1fr) minmax(0, 1.6fr); gap: .75rem; margin-top: .75rem; }
#more .panel { overflow: visible; }
#usage { grid-column: 1 / -1; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .85rem; }
th, td { padding: .3rem .7rem; text-align: left; white-space: nowrap; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--muted); font-weight: 500; font-size: .8rem; }
tbody th { font: 12px var(--mono); }
#records :is(th, td) { padding-inline: .45rem; }
:is(#records, #models-list) thead th { white-space: normal; vertical-align: bottom; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.snippet { border-top: 1px solid var(--line); }
.snippet h3 { display: flex; flex-wrap: wrap; gap: .2rem .6rem; align-items: center; padding: .4rem .7rem; font-size: .85rem; font-weight: 600; }
.snippet h3 code { font: 400 12px var(--mono); color: var(--muted); overflow-wrap: anywhere; }
.snippet pre { padding: .4rem .7rem .6rem; overflow-x: auto; background: var(--sunk); font: 12px/1.5 var(--mono); }
.remarks { padding: .5rem .7rem .6rem 1.7rem; color: var(--muted); font-size: .85rem; }

@media (max-width: 1100px) {
  #bench { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); grid-auto-flow: row; }
  #bench, #keys:not([hidden]) + #bench { height: auto; }
  #bench > .panel { max-height: 44rem; }
  #records :is(th, td) { padding-inline: .25rem; font-size: .75rem; white-space: normal; }
  #models-list tbody th { white-space: normal; overflow-wrap: anywhere; }
}
@media (max-width: 720px) {
  header { position: static; }
  nav { margin-left: 0; }
  main { padding-inline: .5rem; }
  #bench, #more { grid-template-columns: minmax(0, 1fr); }
  #bench > .panel { max-height: none; }
  .code { max-height: 26rem; }
  .notes { max-height: 16rem; }
  .fields { grid-template-columns: 1fr 1fr; }
  #source { flex-basis: auto; height: 14rem; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`
