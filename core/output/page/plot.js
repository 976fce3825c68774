// Functions that draw plots again in another size.
const redraws = [];

function parseCsv(csv) {
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (let i = 0; i < csv.length; i++) {
    const c = csv[i];
    if (quoted) {
      if (c === '"' && csv[i + 1] === '"') { cell += '"'; i++; }
      else if (c === '"') quoted = false;
      else cell += c;
    } else if (c === '"') quoted = true;
    else if (c === ",") { row.push(cell); cell = ""; }
    else if (c === "\n") { row.push(cell.replace(/\r$/, "")); rows.push(row); row = []; cell = ""; }
    else cell += c;
  }
  if (cell !== "" || row.length > 0) { row.push(cell); rows.push(row); }
  const titles = rows.shift() ?? [];
  return { titles, rows: rows.filter(values => values.length === titles.length) };
}

const extent = values => {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  return [low, high];
};
function niceTicks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find(factor => factor * power >= rough) ?? 10);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}
function logTicks(low, high, count) {
  const from = Math.floor(Math.log10(low) + 1e-9), to = Math.ceil(Math.log10(high) - 1e-9);
  const every = Math.max(1, Math.ceil((to - from) / count));
  const ticks = [];
  for (let power = from; power <= to; power++)
    for (const factor of to - from <= 2 ? [1, 2, 5] : [1])
      if ((power - from) % every === 0) ticks.push(Number(`${factor}e${power}`));
  return ticks.filter(tick => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}
// A scale from values to pixels; null if nothing can be drawn.
function makeScale(values, log, from, to, count) {
  let [low, high] = extent(log ? values.filter(value => value > 0) : values);
  if (low > high) return null;
  if (low === high) {
    const room = log ? 0 : Math.abs(low) * 0.05 || 1;
    [low, high] = log ? [low / 2, high * 2] : [low - room, high + room];
  }
  const map = log ? Math.log10 : value => value, a = map(low), b = map(high);
  const at = value => log && !(value > 0) ? NaN : from + (map(value) - a) / (b - a) * (to - from);
  return { at, ticks: log ? logTicks(low, high, count) : niceTicks(low, high, count) };
}
// Powers of ten as 10⁻⁸; else enough digits to tell ticks apart.
function tickTexts(ticks) {
  const powers = ticks.map(tick => Math.log10(tick));
  if (ticks.some(tick => tick < 1e-3 || tick >= 1e6) && powers.every(power => Math.abs(power - Math.round(power)) < 1e-9))
    return powers.map(power => "10" + [...String(Math.round(power))].map(c => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join(""));
  for (let digits = 3; digits < 12; digits++) {
    const texts = ticks.map(tick => Math.abs(tick) < 1e7 && Number.isInteger(tick) ? tick.toLocaleString("en") : number(tick, digits));
    if (new Set(texts).size === texts.length) return texts;
  }
  return ticks.map(String);
}
// Of many points, the lowest and the highest of each column of pixels.
function curvePath(xs, ys, scaleX, scaleY, width) {
  const points = [];
  for (let i = 0; i < xs.length; i++) points.push([scaleX.at(xs[i]), scaleY.at(ys[i])]);
  let kept = points;
  if (points.length > 6 * width) {
    kept = [];
    for (let i = 0; i < points.length;) {
      const column = Math.floor(points[i][0]);
      let low = points[i], high = points[i];
      const first = points[i];
      for (; i < points.length && (Math.floor(points[i][0]) === column || !Number.isFinite(points[i][0])); i++) {
        if (points[i][1] < low[1]) low = points[i];
        if (points[i][1] > high[1]) high = points[i];
        if (!Number.isFinite(column)) { i++; break; }
      }
      kept.push(first, low, high);
    }
  }
  let path = "", pen = false;
  for (const [x, y] of kept) {
    const drawn = Number.isFinite(x) && Number.isFinite(y);
    if (drawn) path += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = drawn;
  }
  return path;
}

// Which columns to show at first: those of a size with the first one.
function firstChoice(columns, candidates) {
  const chosen = [];
  let low = Infinity, high = -Infinity, widest = 0;
  for (const i of candidates) {
    const [a, b] = extent(columns[i]);
    const span = Math.max(widest, b - a), both = Math.max(high, b) - Math.min(low, a);
    if (a > b || chosen.length === 6 || (chosen.length > 0 && both > 4 * span)) continue;
    chosen.push(i);
    [low, high, widest] = [Math.min(low, a), Math.max(high, b), span];
  }
  return chosen;
}

// `kept`, if it is given, has what the reader chose in an earlier plot of the same table, and gets it.
function plot(csv, timeUnit, kept = {}) {
  const { titles, rows } = parseCsv(csv);
  const label = i => titles[i] === "time" && timeUnit ? `time (${timeUnit})` : titles[i];
  const columns = titles.map((_, i) => rows.map(row => row[i].trim() === "" ? NaN : Number(row[i])));
  const numeric = titles.map((_, i) => i).filter(i => columns[i].filter(Number.isFinite).length * 2 > rows.length);
  const values = rows.length > 0 && el("details", { class: "screen" }, el("summary", {}, `Values: ${plural(rows.length, "row")}`),
    rows.length > 400 && note("The first 400 rows."),
    table(titles.map((title, i) => [title, numeric.includes(i) ? "number" : ""]), rows.slice(0, 400)));
  if (rows.length < 2 || numeric.length < 2)
    return rows.length > 0 && rows.length < 2 ? [table(titles.map(title => [title, ""]), rows)] : [note("There is nothing to plot."), values];
  const named = name => numeric.find(i => titles[i] === name);
  let xIndex = named("time") ?? named("step") ?? numeric[0];
  const rest = numeric.filter(i => i !== xIndex && titles[i] !== "step" && titles[i] !== "time");
  const chosen = new Set(firstChoice(columns, rest.length > 0 ? rest : numeric.filter(i => i !== xIndex)));
  const shown = [...chosen].flatMap(i => columns[i]).filter(Number.isFinite), [low, high] = extent(shown);
  let logX = false, logY = low > 0 && high > 1e4 * low;
  let hover = -1;
  if (kept.titles === titles.join()) {
    ({ xIndex, logX, logY } = kept);
    chosen.clear();
    kept.chosen.forEach(i => chosen.add(i));
  }
  const changed = () => {
    Object.assign(kept, { titles: titles.join(), xIndex, logX, logY, chosen: [...chosen] });
    draw();
  };
  const order = [...rest, ...numeric.filter(i => !rest.includes(i))];
  const colour = i => `var(--c${order.indexOf(i) % 8})`;

  const holder = el("div"), legend = el("div", { class: "legend" });
  const chooser = el("select", { "aria-label": "horizontal axis" }, numeric.map(i => el("option", i === xIndex ? { value: i, selected: "" } : { value: i }, label(i))));
  const checkbox = (checked, change) => {
    const box = el("input", checked ? { type: "checkbox", checked: "" } : { type: "checkbox" });
    box.addEventListener("change", () => { change(box.checked); changed(); });
    return box;
  };
  chooser.addEventListener("change", () => { xIndex = Number(chooser.value); changed(); });
  const readouts = new Map();
  for (const i of numeric) {
    const value = el("span", { class: "value" });
    const label = el("label", {}, checkbox(chosen.has(i), on => on ? chosen.add(i) : chosen.delete(i)),
      el("span", { class: "swatch", style: `background: ${colour(i)}` }), el("span", {}, titles[i]), value);
    readouts.set(i, { label, value });
    add(legend, [label]);
  }

  let geometry = null;
  function draw() {
    const width = Math.max(280, holder.clientWidth || 720), height = Math.round(Math.min(340, Math.max(220, 0.45 * width)));
    const curves = [...chosen].filter(i => i !== xIndex).sort((a, b) => a - b);
    for (const [i, { label }] of readouts) {
      label.style.display = i === xIndex ? "none" : "";
      label.classList.toggle("off", !chosen.has(i));
    }
    const top = 12, bottom = height - 40;
    const all = curves.flatMap(i => columns[i]);
    const scaleY = makeScale(all, logY, bottom, top, 5);
    const texts = scaleY ? tickTexts(scaleY.ticks) : [];
    const left = 14 + 7 * Math.max(3, ...texts.map(label => label.length)), right = width - 14;
    const scaleX = makeScale(columns[xIndex], logX, left, right, Math.max(2, Math.floor(width / 100)));
    geometry = null;
    hover = -1;
    if (!scaleX || !scaleY) {
      holder.replaceChildren(note(curves.length === 0 ? "Choose a column." : "These values have no logarithm."));
      return;
    }
    const xTexts = tickTexts(scaleX.ticks);
    const cursor = svgEl("g", {});
    const drawing = svgEl("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", tabindex: 0,
      "aria-label": `${curves.map(i => titles[i]).join(", ")} against ${titles[xIndex]}` },
      scaleY.ticks.map((tick, k) => [svgEl("line", { class: "grid", x1: left, x2: right, y1: scaleY.at(tick), y2: scaleY.at(tick) }),
        svgEl("text", { x: left - 8, y: scaleY.at(tick) + 4, "text-anchor": "end" }, texts[k])]),
      scaleX.ticks.map((tick, k) => [svgEl("line", { class: "grid", x1: scaleX.at(tick), x2: scaleX.at(tick), y1: bottom, y2: bottom + 5 }),
        svgEl("text", { x: Math.min(scaleX.at(tick), right - 3 * xTexts[k].length + 10), y: bottom + 19, "text-anchor": "middle" }, xTexts[k])]),
      svgEl("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, label(xIndex)),
      curves.map(i => svgEl("path", { class: "curve", style: `stroke: ${colour(i)}`, d: curvePath(columns[xIndex], columns[i], scaleX, scaleY, right - left) })),
      cursor);
    geometry = { scaleX, scaleY, curves, cursor, top, bottom, width, drawing };
    drawing.addEventListener("pointermove", event => point(nearest(event)));
    drawing.addEventListener("pointerdown", event => point(nearest(event)));
    drawing.addEventListener("pointerleave", () => point(-1));
    drawing.addEventListener("keydown", event => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      point(Math.max(0, Math.min(rows.length - 1, (hover < 0 ? (by > 0 ? -1 : rows.length) : hover) + by)));
    });
    holder.replaceChildren(drawing);
    point(-1);
  }
  function nearest(event) {
    const box = geometry.drawing.getBoundingClientRect(), x = (event.clientX - box.left) * geometry.width / box.width;
    let best = -1, distance = Infinity;
    columns[xIndex].forEach((value, i) => {
      const away = Math.abs(geometry.scaleX.at(value) - x);
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }
  function point(at) {
    hover = at;
    const shownAt = at < 0 ? rows.length - 1 : at;
    for (const [i, { value }] of readouts)
      value.textContent = chosen.has(i) && i !== xIndex ? number(columns[i][shownAt], 6) : "";
    place.textContent = `${at < 0 ? "last row: " : ""}${titles[xIndex]} ${number(columns[xIndex][shownAt], 6)}`;
    if (!geometry) return;
    geometry.cursor.replaceChildren();
    if (at < 0) return;
    const x = geometry.scaleX.at(columns[xIndex][at]);
    add(geometry.cursor, [svgEl("line", { class: "cursor", x1: x, x2: x, y1: geometry.top, y2: geometry.bottom }),
      geometry.curves.filter(i => Number.isFinite(geometry.scaleY.at(columns[i][at]))).map(i =>
        svgEl("circle", { cx: x, cy: geometry.scaleY.at(columns[i][at]), r: 4, style: `fill: ${colour(i)}` }))]);
  }
  const place = el("span", { class: "note" });
  const controls = el("div", { class: "bar screen" }, el("label", {}, "horizontal axis", chooser),
    el("label", {}, checkbox(logX, on => { logX = on; }), "horizontal log"),
    el("label", {}, checkbox(logY, on => { logY = on; }), "vertical log"));
  redraws.push(draw);
  return [holder, el("p", { class: "note" }, place), legend, controls, values];
}
