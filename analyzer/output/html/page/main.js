/** The few losses to know of first, or why there are none; a finding is a link to its function's page. `number`: of the run; none: of all processes. */
function findings(run, number) {
  if (!run.findings || run.findings.length === 0) return run.verdict ? h('p', {class: 'findings', text: run.verdict}) : null;
  return h('ol', {class: 'findings'}, ...run.findings.map(({title, lines, rank, run: of = number}) => {
    const row = of === undefined ? null : page.data.runs[of].functions.find((each) => each.rank === rank);
    return h('li', {}, row && row.details ? h('a', {href: `#run-${of}-function-${rank}`, text: title}) : h('b', {text: title}), h('ul', {}, ...lines.map((text) => h('li', {text}))));
  }));
}

const notesList = (notes) => (notes.length > 0 ? h('ul', {class: 'notes'}, ...notes.map((text) => h('li', {text}))) : null);

/** Of a run with findings: what threads did; the rest of what is known of the recording is folded. */
const SHOWN_FACTS = ['Processes', 'Duration', 'Lives', 'Threads', 'Running', 'Waiting'];
const factList = (facts) => h('dl', {}, ...facts.flatMap(([name, value]) => [h('dt', {text: name}), h('dd', {text: value})]));

function header(run, number) {
  const found = findings(run, number);
  const warnings = run.warnings || 0;
  const shown = found ? run.facts.filter(([name]) => SHOWN_FACTS.includes(name)) : run.facts;
  const folded = run.facts.filter((fact) => !shown.includes(fact));
  const notes = run.notes.slice(warnings);
  const rest = [folded.length > 0 ? factList(folded) : null, notesList(notes)];
  // A narrow screen has no room for the table of threads beside the findings.
  const states = found && run.states ? h('p', {class: 'states', text: run.states}) : null;
  return h('header', {}, h('h1', {text: run.title}), found, states, notesList(run.notes.slice(0, warnings)), factList(shown),
    ...(found ? [h('details', {class: 'about'}, h('summary', {text: `About the recording${notes.length > 0 ? `, and ${notes.length} note${notes.length === 1 ? '' : 's'}` : ''}`}), ...rest)] : rest));
}

const FIRST_THREADS = 4;
/** What threads did with their lives: those to look at first, and the others folded. Null: it is not known. */
function livesSection({lives}) {
  if (!lives || !lives.known) return null;
  const table = (rows) => fieldTable('Threads', lives.columns, rows);
  const rest = lives.rows.slice(FIRST_THREADS);
  const more = rest.length + lives.left_out;
  const folded = rest.length > 0 ? h('details', {class: 'about'}, h('summary', {text: `${countText(more)} more ${more === 1 ? 'thread' : 'threads'}`}), table(rest),
    leftOutText(lives.left_out, 'threads')) : null;
  return h('section', {class: 'lives'}, h('h2', {text: 'Threads'}), table(lives.rows.slice(0, FIRST_THREADS)), folded);
}

function runPage(run, number) {
  const calls = run.timelines.length > 0 ? timelinesSection(run, number) : null;
  return h('div', {}, header(run, number), livesSection(run), ranking(run, number), run.heat && run.heat.cells.length > 0 ? heatSection(run, calls && calls.goTo) : null, run.icicle ? icicleSection(run) : null,
    calls ? calls.node : run.functions.length > 0 ? noTimelines(run) : null);
}

/** #diff or #all, #run-N, #run-N-function-RANK; anything else: the first page. */
function place(data) {
  const match = /^#run-(\d+)(?:-function-(\d+))?$/.exec(window.location.hash);
  if (match && data.runs[Number(match[1])]) return {run: Number(match[1]), rank: match[2] === undefined ? null : Number(match[2])};
  return data.diff || data.processes ? {run: null, rank: null} : {run: 0, rank: null};
}

function themeButton() {
  const button = h('button', {type: 'button', id: 'theme'});
  const name = () => { button.textContent = isDark() ? 'light' : 'dark'; button.setAttribute('aria-label', `Use ${button.textContent} colours`); };
  button.addEventListener('click', () => {
    setTheme(isDark() ? 'light' : 'dark');
    name();
  });
  name();
  return button;
}
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  redrawAll();
  redrawCharts();
}
/** Paper is white. */
function printInLight() {
  let before = 'light';
  window.addEventListener('beforeprint', () => {
    before = document.documentElement.dataset.theme;
    for (const each of document.querySelectorAll('details.about')) each.open = true;
    if (before !== 'light') setTheme('light');
  });
  window.addEventListener('afterprint', () => { if (before !== 'light') setTheme(before); });
}

/** What tells the recordings apart: their commands, or their files. */
function nameOfRun(data, i) {
  const run = data.runs[i];
  if (data.processes) return data.processes.processes.find((row) => row.run === i).name;
  const same = data.runs.some((each, j) => j !== i && each.title === run.title);
  return same ? new Map(run.facts).get('Trace') || run.title : run.title;
}

let page = null;
/** How far down the reader was in each run when a function was opened. */
const scrolled = new Map();

/** As it was left when `rank` was opened: the place, and its link with the focus. */
function comeBack(number, rank) {
  window.scrollTo(0, scrolled.get(number) || 0);
  const link = page.app.querySelector(`table.ranking a[href="#run-${number}-function-${rank}"]`);
  if (link) link.focus({preventScroll: true});
}

function navigation(data, at) {
  const links = data.runs.map((run, i) => h('a', {href: `#run-${i}`, 'aria-current': at.run === i ? 'page' : null, text: data.runs.length > 1 ? `${data.diff ? ['before', 'after'][i] : i + 1}: ${nameOfRun(data, i)}` : run.title}));
  if (data.processes) links.unshift(h('a', {href: '#all', 'aria-current': at.run === null ? 'page' : null, text: 'all processes'}));
  if (data.diff) links.unshift(h('a', {href: '#diff', 'aria-current': at.run === null ? 'page' : null, text: 'before and after'}));
  // On a narrow screen, a link to where the reader is would push the findings down.
  return h('div', {class: links.length === 1 && at.rank === null ? 'top alone' : 'top'}, h('nav', {'aria-label': 'Recordings'}, ...links), themeButton());
}

function render() {
  const {data, app} = page;
  const at = place(data);
  dropCharts();
  drawings.clear();
  tip.hidden = true;
  const about = at.rank === null ? null : functionPage(data.runs[at.run], at.run, at.rank);
  const first = () => (data.diff ? diffSection(data) : processesPage(data));
  const content = about || (at.run === null ? first() : runPage(data.runs[at.run], at.run));
  app.replaceChildren(navigation(data, at), content);
  return about;
}

function start() {
  const data = JSON.parse(document.getElementById('data').textContent);
  page = {data, app: document.getElementById('app')};
  for (const run of data.runs) [...run.functions].sort((a, b) => b.lost_ns - a.lost_ns).forEach((row) => colourOf(row.name));
  setTheme(window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.getElementById('static').hidden = true;
  document.body.append(tip);
  let last = place(data);
  window.addEventListener('hashchange', () => {
    const at = place(data);
    if (last.rank === null && last.run !== null) scrolled.set(last.run, before);
    const about = render();
    if (at.rank === null && at.run === last.run && last.rank !== null) {
      comeBack(at.run, last.rank);
    } else {
      window.scrollTo(0, 0);
      const head = page.app.querySelector(about ? 'h2' : 'h1');
      head.setAttribute('tabindex', '-1');
      head.focus({preventScroll: true});
    }
    last = at;
  });
  // A browser may have moved by the time it says that the place is another.
  let before = 0;
  document.addEventListener('scroll', () => { before = window.scrollY; }, {passive: true});
  printInLight();
  let waiting = 0;
  window.addEventListener('resize', () => { window.cancelAnimationFrame(waiting); waiting = window.requestAnimationFrame(redrawAll); });
  render();
}

if (typeof Chart === 'undefined' || !window.requestAnimationFrame || !Element.prototype.replaceChildren) {
  document.getElementById('old').hidden = false;
} else {
  try {
    start();
  } catch (error) {
    // The text is all there.
    document.getElementById('app').replaceChildren();
    document.getElementById('static').hidden = false;
    throw error;
  }
}
