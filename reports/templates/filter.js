"use strict";
(function () {
  var filters = Array.prototype.slice.call(document.querySelectorAll(".filter")).map(filter);
  if (!filters.length) { return; }

  function filter(box) {
    var input = box.querySelector("input");
    var count = box.querySelector("output");
    var within = document.getElementById(box.getAttribute("data-table"));
    var rows = Array.prototype.slice.call(within.querySelectorAll("tbody tr"));
    function apply() {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var sections = {};
      var shown = 0;
      rows.forEach(function (row) {
        var text = row.textContent.toLowerCase();
        var match = words.every(function (word) { return text.indexOf(word) >= 0; });
        var name = row.querySelector("a").getAttribute("href").slice(1);
        row.hidden = !match;
        sections[name] = sections[name] || match;
        shown += match ? 1 : 0;
      });
      Object.keys(sections).forEach(function (name) {
        document.getElementById(name).hidden = !sections[name];
      });
      count.textContent = words.length ? shown + " of " + rows.length + " shown" : "";
    }
    box.hidden = false;
    input.addEventListener("input", apply);
    return { input: input, within: within, apply: apply };
  }

  // The filter of the part that is read: the last one that begins above the middle of the window.
  function nearest() {
    var above = filters.filter(function (each) {
      return each.within.getBoundingClientRect().top < window.innerHeight / 2;
    });
    return above.length ? above[above.length - 1] : filters[0];
  }

  document.addEventListener("keydown", function (event) {
    var active = filters.filter(function (each) { return each.input === document.activeElement; })[0];
    if (event.key === "/" && !active && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      nearest().input.focus();
    } else if (event.key === "Escape" && active) {
      active.input.value = "";
      active.apply();
      active.input.blur();
    }
  });

  // A link to what a filter hides shows it again.
  window.addEventListener("hashchange", function () {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.hidden) {
      filters.forEach(function (each) { each.input.value = ""; each.apply(); });
      target.scrollIntoView();
    }
  });
})();
