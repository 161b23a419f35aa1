/** The style sheet and the icon are the only files of the page. */
export const stylesheet = `
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 76rem; padding: 0 1rem 3rem; }
header { align-items: center; border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .5rem 1.5rem;
  justify-content: space-between; padding: .75rem 0; }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
nav a { font-weight: 600; padding: .25rem 0; }
h1 { font-size: 1.5rem; margin: 1rem 0 .5rem; }
h2, h3 { font-size: 1rem; margin: 0 0 .25rem; }
a { color: LinkText; }
a .client { text-decoration: underline; }
nav a[aria-current] { text-decoration-thickness: 3px; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
input, button { font: inherit; max-width: 100%; min-height: 2.25rem; padding: .25rem .5rem; }
label { display: block; font-size: .85rem; }
header form { align-items: end; display: flex; flex: 0 1 26rem; flex-wrap: wrap; gap: .25rem .5rem; min-width: 0; }
header label { flex: 0 0 100%; }
header input { flex: 1 1 8rem; min-width: 0; }
.search { align-items: end; background: var(--soft); border-radius: .5rem; display: grid; gap: .5rem 1rem;
  grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); margin: 0 0 1rem; padding: .75rem; }
.search p { margin: 0; min-width: 0; }
.search input { width: 100%; }
article { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1rem; overflow: hidden; padding: .75rem 1rem; }
.facts { font-size: .9rem; margin: .25rem 0; overflow-wrap: anywhere; }
.text { margin: .5rem 0; }
.client { display: inline-block; max-width: 100%; overflow: clip; overflow-wrap: anywhere; unicode-bidi: plaintext;
  vertical-align: top; white-space: pre-wrap; }
.code { border: 1px solid var(--line); border-radius: .2rem; font-size: .75em; padding: 0 .2em; unicode-bidi: isolate; }
.note { font-style: italic; opacity: .8; }
.json, pre { font-family: ui-monospace, monospace; font-size: .85rem; }
pre { margin: .5rem 0; white-space: pre-wrap; }
.pictures { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; margin: .5rem 0; padding: 0; }
.pictures img { border: 1px solid var(--line); display: block; height: 10rem; max-width: 100%; object-fit: contain; width: auto; }
dl { display: grid; gap: .25rem 1rem; grid-template-columns: minmax(8rem, max-content) 1fr; margin: .5rem 0; }
dt { font-size: .85rem; overflow-wrap: anywhere; padding-top: .1rem; }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.scroll { margin: 0 0 1rem; overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; }
caption { font-weight: 600; padding: .5rem 0; text-align: start; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .5rem; text-align: start; vertical-align: top; }
td.json { min-width: 16rem; }
time { white-space: nowrap; }
.skip { left: -100rem; position: absolute; }
.skip:focus { left: 1rem; top: .5rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .35rem; } }
`

export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#36c" d="M2 2h12v9H6l-4 3z"/></svg>'
