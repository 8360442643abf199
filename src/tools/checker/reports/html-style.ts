// The style of the HTML report: light and dark, on a screen and on paper.

export const style = `
:root {
  color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --line: #e0e3e8; --text: #1b1f26; --soft: #5b6472; --code: #f2f4f7;
  --good: #13794a; --good-back: #e2f4ea; --bad: #b42318; --bad-back: #fdeceb; --warn: #92580b; --warn-back: #fdf1dc;
  --idle: #5f6876; --idle-back: #eceef2; --link: #1f5fbf;
  --shadow: 0 1px 2px rgb(16 24 40 / 6%), 0 2px 8px rgb(16 24 40 / 4%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12151a; --card: #1b1f26; --line: #2e343e; --text: #e7eaef; --soft: #9aa4b2; --code: #14181e;
    --good: #5fd39b; --good-back: #16342a; --bad: #ff8a80; --bad-back: #3c1d1d; --warn: #f1b55c; --warn-back: #3a2b14;
    --idle: #8b95a4; --idle-back: #272c35; --link: #86b6ff;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere; font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 0 24px 80px; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
h1 { font-size: 26px; line-height: 1.25; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 19px; margin: 48px 0 14px; letter-spacing: -0.005em; }
h3 { font-size: 15.5px; margin: 0; }
p { margin: 6px 0; }
code, pre { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 10px 12px; margin: 6px 0; white-space: pre-wrap; }
.soft { color: var(--soft); }
.small { font-size: 13px; }
.good { --tone: var(--good); --back: var(--good-back); }
.bad { --tone: var(--bad); --back: var(--bad-back); }
.warn { --tone: var(--warn); --back: var(--warn-back); }
.idle { --tone: var(--idle); --back: var(--idle-back); }

.banner { border-top: 5px solid var(--tone); background: var(--card); box-shadow: var(--shadow); }
.banner > div { max-width: 1040px; margin: 0 auto; padding: 30px 24px 26px; }
.banner .state { display: inline-block; font-weight: 650; font-size: 13px; color: var(--tone); background: var(--back); border-radius: 99px; padding: 3px 13px; margin-bottom: 12px; }
.banner .address { font-size: 14.5px; color: var(--soft); margin-top: 8px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 18px; font-size: 14px; }

.cards { display: grid; grid-template-columns: repeat(3, 1fr); gap: 16px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; box-shadow: var(--shadow); }
.card .number { font-size: 30px; font-weight: 650; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.card .number span { font-size: 15px; font-weight: 400; color: var(--soft); letter-spacing: 0; }
.bar { display: flex; gap: 2px; height: 8px; border-radius: 99px; overflow: hidden; margin: 12px 0 10px; background: var(--idle-back); }
.bar i { background: var(--tone); min-width: 3px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 14px; font-size: 13px; color: var(--soft); }
.legend b { color: var(--tone); font-weight: 650; font-variant-numeric: tabular-nums; }
.brief { margin-top: 16px; padding-top: 8px; padding-bottom: 8px; }
.brief .rule { width: 46%; }
.notice { border-left: 4px solid var(--tone); background: var(--back); border-radius: 8px; padding: 10px 16px; margin: 12px 0; }

.chip { display: inline-block; font-size: 12px; line-height: 1; padding: 4px 9px; border-radius: 99px; color: var(--tone); background: var(--back); white-space: nowrap; }
.finding { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--tone); border-radius: 12px; padding: 18px 22px; margin: 14px 0; box-shadow: var(--shadow); break-inside: avoid; }
.finding header { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; margin-bottom: 10px; }
.finding header h3 { flex: 1 1 100%; font-size: 16.5px; }
.finding dl { display: grid; grid-template-columns: 92px 1fr; gap: 7px 14px; margin: 0; }
.finding dt { color: var(--soft); font-size: 13.5px; padding-top: 1px; }
.finding dd { margin: 0; }
details { margin-top: 12px; }
summary { cursor: pointer; font-size: 13.5px; color: var(--link); width: fit-content; }
.exchange { border-top: 1px solid var(--line); margin-top: 14px; padding-top: 12px; }
.exchange h4 { font-size: 13.5px; margin: 0 0 6px; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 12px; }
.sides > div { min-width: 0; }
.caption { font-size: 12px; color: var(--soft); margin-top: 8px; }

table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 550; font-size: 12.5px; color: var(--soft); padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); }
td { padding: 8px 12px 8px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
th.number { text-align: right; }
.group { margin: 12px 0; padding: 4px 20px 4px; }
.group > summary { display: flex; align-items: center; gap: 12px; width: 100%; padding: 12px 0; color: var(--text); font-size: 15px; list-style: none; }
.group > summary::-webkit-details-marker { display: none; }
.group > summary::before { content: "›"; color: var(--soft); transition: transform .15s; }
.group[open] > summary::before { transform: rotate(90deg); }
.group > summary b { flex: 1; font-weight: 600; }
.targets { display: flex; flex-wrap: wrap; gap: 4px; }
.rule { min-width: 300px; }
.level { white-space: nowrap; }

.sheet .lines { display: grid; grid-template-columns: 1fr 1fr; gap: 34px 40px; margin-top: 44px; }
.sheet .lines div { border-top: 1px solid var(--soft); padding-top: 5px; font-size: 13px; color: var(--soft); }
.sheet ul { margin: 0; padding-left: 18px; }
.sheet td:first-child { color: var(--soft); width: 230px; }
footer { margin-top: 48px; color: var(--soft); font-size: 13px; }

@media (max-width: 760px) {
  .cards, .sides { grid-template-columns: 1fr; }
  .finding dl { grid-template-columns: 1fr; gap: 1px 0; }
  .finding dd { margin-bottom: 8px; }
  .rule { min-width: 0; }
  .level, .chip { white-space: normal; }
  main, .banner > div { padding-left: 16px; padding-right: 16px; }
}
@media print {
  body { background: #fff; font-size: 12px; }
  nav { display: none; }
  .card, .finding { box-shadow: none; }
  .sheet { break-before: page; }
}
`
