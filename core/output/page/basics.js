// ---- Elements -----------------------------------------------------------------------------------

function add(element, children) {
  for (const child of children.flat(9))
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  return add(element, children);
}
function svgEl(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  return add(element, children);
}
const page = document.getElementById("page");
const section = (title, ...children) => {
  const content = children.flat(9).filter(child => child);
  if (content.length > 0) add(page, [el("section", {}, el("h2", {}, title), content)]);
};
const note = text => el("p", { class: "note" }, text);

// columns: [title, "number" | "wide" | "plan" | "name" | ""]. Columns without any value are left out.
function table(columns, rows) {
  const used = columns.map((_, i) => rows.some(row => row[i] !== null && row[i] !== undefined && row[i] !== ""));
  const cells = (name, row) => row.map((cell, i) => used[i] && el(name, columns[i][1] ? { class: columns[i][1] } : {}, cell ?? ""));
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, cells("th", columns.map(column => column[0])))),
    el("tbody", {}, rows.map(row => el("tr", {}, cells("td", row))))));
}
// Long lists show their beginning.
function longTable(columns, rows, shown) {
  if (rows.length <= shown + 5) return table(columns, rows);
  return [table(columns, rows.slice(0, shown)),
    el("details", {}, el("summary", {}, `${rows.length - shown} more rows`), table(columns, rows.slice(shown)))];
}
function factTable(rows) {
  const given = rows.filter(row => row[1]);
  return given.length > 0 && el("table", { class: "facts" },
    el("tbody", {}, given.map(row => el("tr", {}, el("th", { scope: "row" }, row[0]), el("td", {}, row[1])))));
}

// ---- Texts --------------------------------------------------------------------------------------

const isNumber = value => typeof value === "number" && Number.isFinite(value);
const list = value => Array.isArray(value) ? value : [];
const object = value => value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const entries = value => Object.entries(object(value));
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
function number(value, digits = 4) {
  if (!isNumber(value)) return "";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size >= 1e6 || size < 1e-3 ? value.toExponential(digits - 1).replace("e+", "e").replace(/\.?0+e/, "e")
                                    : String(Number(value.toPrecision(digits)));
}
const scaled = (value, scales, digits = 3) => {
  if (!isNumber(value)) return "";
  const [factor, unit] = scales.find(([factor]) => Math.abs(value) >= factor) ?? scales[scales.length - 1];
  return `${Number((value / factor).toPrecision(digits))} ${unit}`;
};
const seconds = value => value === 0 ? "0 s" : isNumber(value) && value >= 120
  ? (value >= 7200 ? `${number(value / 3600, 3)} h` : `${number(value / 60, 3)} min`)
  : scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
const bytes = value => scaled(value, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
const rate = value => isNumber(value) ? `${Number(value.toPrecision(3))} GCells/s` : "";
const shape = value => list(value).map(extent => isNumber(extent) ? String(extent) : "?").join("\u00a0×\u00a0");
const text = value => value === null || value === undefined ? ""
  : typeof value === "string" ? value
  : isNumber(value) ? String(value)
  : typeof value === "boolean" ? (value ? "yes" : "no") : JSON.stringify(value);
const base = path => text(path).split("/").pop();

const planKeys = new Set(["family", "height", "tile", "why", "stages", "steps", "seconds", "seconds_per_iteration",
  "predicted_seconds_per_iteration", "estimated_seconds_per_iteration", "tie", "remembered", "note"]);
function planText(plan) {
  if (!plan || typeof plan !== "object") return "";
  const knobs = entries(plan).filter(([key]) => !planKeys.has(key)).map(([key, value]) => `${key} ${text(value)}`);
  const tile = list(plan.tile).some(extent => extent > 0) && `tile ${shape(plan.tile)}`;
  return [text(plan.family), `height ${text(plan.height)}`, tile, ...knobs].filter(part => part).join(", ");
}
