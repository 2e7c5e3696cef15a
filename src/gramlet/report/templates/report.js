"use strict";
// Behaviour of the page, without a network: colour scheme, sortable tables, maps with drawings.
(function () {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const facts = JSON.parse(document.getElementById("facts").textContent);

  // The drawings of all graphs of the maps, compressed in the page and unpacked at the first use.
  let unpacked = null;
  async function unpack() {
    const packed = Uint8Array.from(
      atob(document.getElementById("drawings").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  // Light or dark colours: the system's preference, until the button is used.
  function setUpScheme() {
    const button = document.getElementById("scheme");
    const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => {
      const chosen = document.documentElement.dataset.scheme;
      return chosen ? chosen === "dark" : prefersDark.matches;
    };
    const tell = () => {
      button.setAttribute("aria-pressed", String(isDark()));
      button.textContent = isDark() ? "Light colours" : "Dark colours";
    };
    button.addEventListener("click", () => {
      document.documentElement.dataset.scheme = isDark() ? "light" : "dark";
      tell();
    });
    prefersDark.addEventListener("change", tell);
    tell();
  }

  // Tables: a click on a heading sorts, a second click reverses the order; words filter rows.
  function setUpTable(box) {
    const body = box.querySelector("tbody");
    const headings = all("thead th", box);
    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const down = heading.getAttribute("aria-sort") === "ascending";
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        sortRows(body, column, heading.classList.contains("number"), down);
      });
    });
    const input = box.querySelector("input[type=search]");
    if (!input) return;
    const count = box.querySelector(".count");
    const rows = all("tr", body);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, i) => {
        const fits = words.every((word) => texts[i].includes(word));
        row.hidden = !fits;
        shown += fits ? 1 : 0;
      });
      count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
    });
  }

  function sortRows(body, column, numeric, down) {
    const key = (row) => row.children[column].dataset.key;
    const rows = all("tr", body).map((row, i) => ({ row, key: key(row), i }));
    const sign = down ? -1 : 1;
    rows.sort((a, b) => {
      const order = numeric
        ? Number(a.key) - Number(b.key)
        : a.key.localeCompare(b.key, undefined, { numeric: true });
      return sign * order || a.i - b.i;
    });
    body.append(...rows.map((item) => item.row));
  }

  // Show a graph in a panel: its drawing, if the page contains it, its name, target and prediction.
  function showGraph(panel, i) {
    const shown = panel.querySelector(".shown");
    shown.replaceChildren();
    const drawing = document.createElement("div");
    drawing.className = "drawing";
    unpacked = unpacked || unpack();
    unpacked.then((drawings) => {
      if (drawings[i]) drawing.innerHTML = drawings[i];
      else drawing.textContent = "This page does not contain a drawing of this graph, to keep the file small.";
    }, () => { drawing.textContent = "This browser cannot unpack the drawings."; });
    const [name, target, predicted, smiles] = facts.graphs[i];
    const title = document.createElement("p");
    const strong = document.createElement("b");
    strong.textContent = name;
    title.append(strong);
    const words = document.createElement("p");
    words.textContent = `true: ${target}` +
      (predicted === null ? "" : `; predicted by ${facts.kernel}: ${predicted}`);
    shown.append(drawing, title, words);
    if (smiles && smiles !== name) {
      const code = document.createElement("code");
      code.textContent = smiles;
      shown.append(code);
    }
    panel.classList.add("filled");
    panel.querySelector("input").value = i;
  }

  // Maps: the point nearest to the pointer is shown, a click keeps it, arrow keys move to the next.
  function setUpMap(box) {
    const svg = box.querySelector("svg[data-map]");
    const panel = box.querySelector(".picked");
    const ring = svg.querySelector(".ring");
    const points = all("use[data-i]", svg).map((mark) => ({
      x: Number(mark.getAttribute("x")),
      y: Number(mark.getAttribute("y")),
      i: Number(mark.dataset.i),
    }));
    const walk = points.slice().sort((a, b) => a.x - b.x || a.y - b.y);
    const byGraph = new Map(points.map((point) => [point.i, point]));
    let kept = null;
    let current = null;

    function show(point) {
      if (current === point) return;
      current = point;
      ring.setAttribute("cx", point.x);
      ring.setAttribute("cy", point.y);
      showGraph(panel, point.i);
    }

    function nearest(event) {
      const frame = svg.getBoundingClientRect();
      const view = svg.viewBox.baseVal;
      const x = ((event.clientX - frame.left) / frame.width) * view.width;
      const y = ((event.clientY - frame.top) / frame.height) * view.height;
      let best = null;
      let least = 20 * 20;
      for (const point of points) {
        const apart = (point.x - x) ** 2 + (point.y - y) ** 2;
        if (apart < least) {
          least = apart;
          best = point;
        }
      }
      return best;
    }

    function step(by) {
      const at = current ? walk.indexOf(current) : by > 0 ? -1 : walk.length;
      const next = walk[Math.min(walk.length - 1, Math.max(0, at + by))];
      kept = next;
      show(next);
    }

    svg.addEventListener("pointermove", (event) => {
      const point = nearest(event);
      if (point && !kept) show(point);
    });
    svg.addEventListener("click", (event) => {
      const point = nearest(event);
      kept = point && point !== kept ? point : null;
      if (point) show(point);
    });
    svg.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (by) {
        event.preventDefault();
        step(by);
      } else if (event.key === "Enter" || event.key === "Escape") {
        kept = event.key === "Enter" ? current : null;
      }
    });
    all("button[data-step]", panel).forEach((button) => {
      button.addEventListener("click", () => step(Number(button.dataset.step)));
    });
    panel.querySelector("input").addEventListener("change", (event) => {
      const i = Number(event.target.value);
      const point = byGraph.get(i);
      if (point) {
        kept = point;
        show(point);
      } else if (Number.isInteger(i) && facts.graphs[i]) {
        current = null;
        showGraph(panel, i);
      }
    });
  }

  // A link to a kernel opens its details. Printing opens all details except very long tables, and
  // closes them afterwards.
  const longestPrinted = 500;
  function setUpDetails() {
    const open = () => {
      const target = location.hash && document.getElementById(location.hash.slice(1));
      if (target && target.tagName === "DETAILS") target.open = true;
    };
    window.addEventListener("hashchange", open);
    open();
    let closed = [];
    window.addEventListener("beforeprint", () => {
      const short = (details) => details.querySelectorAll("tr").length <= longestPrinted;
      closed = all("details:not([open])").filter(short);
      closed.forEach((details) => { details.open = true; });
    });
    window.addEventListener("afterprint", () => {
      closed.forEach((details) => { details.open = false; });
    });
  }

  setUpScheme();
  all("[data-table]").forEach(setUpTable);
  all(".map").forEach(setUpMap);
  setUpDetails();
})();
