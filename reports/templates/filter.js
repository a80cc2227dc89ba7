"use strict";
(function () {
  var all = function (selector, within) {
    return Array.prototype.slice.call((within || document).querySelectorAll(selector));
  };
  var filters = all(".filter").map(filter);

  // A section is closed until it is linked, printed or searched for.
  function target() {
    var name = decodeURIComponent(location.hash.slice(1));
    return name && document.getElementById(name);
  }
  function reveal(scroll) {
    var found = target();
    if (!found) { return; }
    for (var each = found; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") { each.open = true; }
    }
    if (found.closest("[hidden]")) {
      filters.forEach(function (one) { one.set(""); });
    }
    var details = found.closest("article > details");
    if (scroll) { (details || found).scrollIntoView(); }
  }
  window.addEventListener("hashchange", function () { reveal(true); });
  reveal(true);

  var closed = [];
  window.addEventListener("beforeprint", function () {
    closed = all("details:not([open])");
    closed.forEach(function (each) { each.open = true; });
  });
  window.addEventListener("afterprint", function () {
    closed.forEach(function (each) { each.open = false; });
  });

  // Words are sought in names, claims and faults; `field:value` and the words of a verdict must match whole.
  function filter(box) {
    var input = box.querySelector("input");
    var count = box.querySelector("output");
    var within = document.getElementById(box.getAttribute("data-table"));
    var rows = all("tbody tr", within).map(function (row) {
      var link = row.querySelector("a");
      var of = link && document.getElementById(link.getAttribute("href").slice(1));
      var fields = {};
      Object.keys(row.dataset).forEach(function (name) { fields[name] = plain(row.dataset[name]); });
      var exact = [fields.verdict, fields.outcome, fields.evidence, fields.what];
      var text = fields.name === undefined ? row.textContent : row.cells[0].textContent + " " + row.dataset.fault;
      return { row: row, section: of && (of.closest("article") || of), fields: fields, exact: exact,
        text: text.toLowerCase() };
    });
    function matches(each, word) {
      var at = word.indexOf(":");
      if (at > 0) {
        var field = word.slice(0, at), value = word.slice(at + 1);
        var held = each.fields[field];
        if (held === undefined) { return each.text.indexOf(word) >= 0; }
        var whole = field === "verdict" || field === "outcome" || field === "evidence" || field === "what";
        return whole ? held === value : held.indexOf(value) >= 0;
      }
      if (each.exact.indexOf(word) >= 0) { return true; }
      return each.text.indexOf(word) >= 0;
    }
    function apply() {
      var words = input.value.toLowerCase().replace(/"([^"]*)"/g, function (_, inside) { return plain(inside); })
        .replace(/not refuted/g, "not-refuted").replace(/as expected/g, "as-expected").split(/\s+/).filter(Boolean);
      var sections = new Map();
      var shown = 0;
      rows.forEach(function (each) {
        var match = words.every(function (word) { return matches(each, word); });
        each.row.hidden = !match;
        if (each.section) { sections.set(each.section, sections.get(each.section) || match); }
        shown += match ? 1 : 0;
      });
      sections.forEach(function (match, section) { section.hidden = !match; });
      count.textContent = words.length ? shown + " of " + rows.length + " shown" : "";
    }
    box.hidden = false;
    input.addEventListener("input", apply);
    return { input: input, within: within, set: function (words) { input.value = words; apply(); } };
  }
  function plain(text) { return text.toLowerCase().trim().replace(/\s+/g, "-"); }

  // The counts filter: a second click on one shows all again.
  all("[data-filter]").forEach(function (link) {
    link.addEventListener("click", function () {
      var wanted = link.getAttribute("data-filter");
      filters.forEach(function (one) {
        if (one.within.id === "index") { one.set(one.input.value === wanted ? "" : wanted); }
      });
    });
  });

  // A click on the head of a column sorts by it, and back.
  all("table.sortable").forEach(function (table) {
    all("thead th", table).forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = "↕";
      button.setAttribute("aria-label", "Sort by " + head.textContent.trim());
      head.appendChild(button);
      button.addEventListener("click", function () {
        var up = head.getAttribute("aria-sort") !== "ascending";
        all("thead th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        var keyed = all("tbody tr", table).map(function (row) {
          var cell = row.cells[column], value = cell.getAttribute("data-v");
          return { row: row, key: value === null ? cell.textContent.trim() : Number(value) };
        });
        keyed.sort(function (a, b) { return (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (up ? 1 : -1); });
        var body = table.tBodies[0];
        keyed.forEach(function (each) { body.appendChild(each.row); });
      });
    });
  });

  document.addEventListener("keydown", function (event) {
    var active = filters.filter(function (each) { return each.input === document.activeElement; })[0];
    if (event.key === "/" && !active && filters.length && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      nearest().input.focus();
    } else if (event.key === "Escape" && active) {
      active.set("");
      active.input.blur();
    }
  });

  // The filter of the part that is read: the last one that begins above the middle of the window.
  function nearest() {
    var above = filters.filter(function (each) {
      return each.within.getBoundingClientRect().top < window.innerHeight / 2;
    });
    return above.length ? above[above.length - 1] : filters[0];
  }
})();
