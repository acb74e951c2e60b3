const ICICLE_WEIGHTS = {lost: ['lost time', timeText], time: ['time', timeText], calls: ['calls', countText]};

/** Children and sums over subtrees, for each weight; of lost time without that of the functions in `left`. */
function icicleTree(data, left) {
  const count = data.parent.length;
  const children = Array.from({length: count}, () => []);
  const own = {};
  for (const weight of Object.keys(ICICLE_WEIGHTS)) own[weight] = Float64Array.from(data[weight]);
  own.lost.forEach((_, i) => { if (left.has(data.names[data.name[i]])) own.lost[i] = 0; });
  const sums = Object.fromEntries(Object.entries(own).map(([weight, values]) => [weight, values.slice()]));
  for (let i = count - 1; i > 0; i -= 1) {
    children[data.parent[i]].push(i);
    for (const weight of Object.keys(sums)) sums[weight][data.parent[i]] += sums[weight][i];
  }
  return {data, children, own, sums, callers: new Set(data.callers)};
}

/** The rectangles that are wide enough to be seen: [node, x, width, depth]. */
function icicleBoxes(tree, state, width) {
  const sums = tree.sums[state.weight];
  const boxes = [];
  const stack = [[state.node, 0, width, 0]];
  while (stack.length > 0) {
    const [node, x, wide, depth] = stack.pop();
    boxes.push([node, x, wide, depth]);
    let at = x;
    const below = [...tree.children[node]].sort((a, b) => sums[b] - sums[a]);
    for (const child of below) {
      const part = sums[node] > 0 ? wide * sums[child] / sums[node] : 0;
      if (part < 0.7) break;
      stack.push([child, at, part, depth + 1]);
      at += part;
    }
  }
  return boxes;
}

function icicleSection(run, id = 'icicle') {
  const data = run.icicle;
  const byDesign = new Set(run.functions.filter((row) => row.standing === 'by_design').map((row) => row.name));
  const waits = data.name.some((name, i) => byDesign.has(data.names[name]) && data.lost[i] > 0);
  let tree = icicleTree(data, byDesign);
  const state = {weight: 'lost', node: 0, focus: 0};
  if (!(tree.sums.lost[0] > 0)) state.weight = 'time';
  const rowHeight = 22;
  let boxes = [];
  const nameOf = (node) => data.names[data.name[node]];
  const say = (node) => {
    const [title, text] = ICICLE_WEIGHTS[state.weight];
    const sums = tree.sums[state.weight];
    if (node === 0) return `${nameOf(node)}\n${title}: ${text(sums[node])}`;
    const lost = `lost ${timeText(tree.sums.lost[node])} of ${timeText(tree.sums.time[node])}`;
    if (tree.callers.has(node)) return `${nameOf(node)}, of which only the calls below are recorded\n${title}: ${text(sums[node])}, ${percentText(sums[0] > 0 ? sums[node] / sums[0] : 0)} of all\n${lost}`;
    return `${nameOf(node)}\n${text(sums[node])}, ${percentText(sums[0] > 0 ? sums[node] / sums[0] : 0)} of all; outside of the boxes below it ${text(tree.own[state.weight][node])}\n` +
      `${lost}, ${countText(data.calls[node])} calls`;
  };
  const {canvas, paint} = ownCanvas('Flame graph of where the time went', 200, (context, width, height) => {
    boxes.forEach(([node, x, wide, depth]) => {
      const colour = node === 0 || tree.callers.has(node) ? styleOf('--line') : colourOf(nameOf(node));
      edged(context, colour, x, depth * rowHeight, Math.max(wide - 0.8, 0.7), rowHeight - 1);
      if (node === state.focus) outline(context, x + 1, depth * rowHeight + 1, Math.max(wide - 2.8, 1), rowHeight - 3);
      context.fillStyle = inkOn(colour);
      context.fillText(fitted(context, nameOf(node), wide - 8), x + 4, depth * rowHeight + rowHeight / 2);
    });
    return height;
  });
  const crumbs = h('p', {'aria-live': 'polite'});
  const told = h('p', {class: 'faint said'});
  const buttons = Object.entries(ICICLE_WEIGHTS).map(([weight, [title]]) => h('button', {type: 'button', text: title, 'data-weight': weight, onclick: () => {
    state.weight = weight;
    show(state.node);
  }}));
  const withWaits = waits ? h('input', {type: 'checkbox', onchange: () => {
    tree = icicleTree(data, withWaits.checked ? new Set() : byDesign);
    show(state.node);
  }}) : null;
  function ancestors(node) {
    const path = [node];
    while (path[0] !== 0) path.unshift(data.parent[path[0]]);
    return path;
  }
  function layOut() {
    boxes = icicleBoxes(tree, state, canvas.clientWidth);
    const deepest = boxes.reduce((most, [, , , depth]) => Math.max(most, depth), 0);
    canvas.style.height = `${(Math.min(deepest, 40) + 1) * rowHeight}px`;
  }
  function show(node) {
    state.node = node;
    state.focus = node;
    layOut();
    paint();
    buttons.forEach((each) => each.setAttribute('aria-pressed', String(each.dataset.weight === state.weight)));
    crumbs.replaceChildren(...ancestors(node).flatMap((each, i) => [i > 0 ? ' › ' : '', h('button', {type: 'button', text: nameOf(each), onclick: () => {
      show(each);
      // The button that was pressed is gone; the last one is that of the same box.
      crumbs.lastElementChild.focus();
    }})]));
    told.textContent = say(node);
    canvas.setAttribute('aria-label', `Flame graph of ${ICICLE_WEIGHTS[state.weight][0]}, from ${nameOf(node)}. ${say(node)}`);
  }
  const at = (x, y) => boxes.find(([, left, wide, depth]) => x >= left && x < left + wide && Math.floor(y / rowHeight) === depth);
  withTip(canvas, (x, y) => { const box = at(x, y); return box ? say(box[0]) : null; });
  canvas.addEventListener('click', (event) => { const box = at(event.offsetX, event.offsetY); if (box) show(box[0]); });
  canvas.addEventListener('keydown', (event) => icicleKey(event, {tree, state, show, focus: (node) => {
    state.focus = node;
    told.textContent = say(node);
    paint();
  }, boxes: () => boxes}));
  drawings.add({canvas, draw: () => { layOut(); paint(); }});
  requestAnimationFrame(() => show(0));
  const rest = [];
  if (data.left_out > 0) rest.push(`${countText(data.left_out)} calls were on paths for which there was no room: they count for a caller.`);
  if (data.approximate > 0) rest.push('The loss on each of several paths of the same sequence is approximate.');
  return h('section', {id, class: 'icicle'}, h('h2', {text: 'Where the time went'}),
    h('p', {text: 'Each box is a call path; its width is its share, with all boxes below it, of what the buttons choose: lost time, time, or the number of calls. A grey box is a function that made the calls below it, and is not recorded itself there. Click a box to zoom in; with the keyboard, arrows move and Enter zooms.'}),
    h('div', {class: 'tools', role: 'group', 'aria-label': 'What the widths show'}, ...buttons, waits ? h('label', {}, withWaits, ' with what was lost in waits by design') : null), crumbs, canvas, told,
    rest.length > 0 ? h('p', {class: 'faint', text: rest.join(' ')}) : null);
}

/** Arrows: to the parent, the largest child and the neighbours; Enter zooms in, Backspace and Escape out. */
function icicleKey(event, {tree, state, show, focus, boxes}) {
  const sums = tree.sums[state.weight];
  const parent = tree.data.parent[state.focus];
  const siblings = () => [...tree.children[parent]].sort((a, b) => sums[b] - sums[a]);
  const visible = new Set(boxes().map(([node]) => node));
  const go = (node) => { if (node !== undefined && visible.has(node)) focus(node); };
  const moves = {
    ArrowUp: () => go(parent),
    ArrowDown: () => go([...tree.children[state.focus]].sort((a, b) => sums[b] - sums[a])[0]),
    ArrowLeft: () => go(siblings()[siblings().indexOf(state.focus) - 1]),
    ArrowRight: () => go(siblings()[siblings().indexOf(state.focus) + 1]),
    Enter: () => show(state.focus),
    Backspace: () => show(tree.data.parent[state.node]),
    Escape: () => show(0),
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  moves[event.key]();
}
