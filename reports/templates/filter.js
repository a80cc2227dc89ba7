"use strict";
(function () {
  var box = document.getElementById("filter");
  if (!box) { return; }
  var input = document.getElementById("filter-text");
  var count = document.getElementById("filter-count");
  var rows = Array.prototype.slice.call(document.querySelectorAll("#subjects tbody tr"));
  function apply() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    rows.forEach(function (row) {
      var text = row.textContent.toLowerCase();
      var match = words.every(function (word) { return text.indexOf(word) >= 0; });
      var section = document.getElementById(row.querySelector("a").getAttribute("href").slice(1));
      row.hidden = !match;
      section.hidden = !match;
      shown += match ? 1 : 0;
    });
    count.textContent = words.length ? shown + " of " + rows.length + " shown" : "";
  }
  box.hidden = false;
  input.addEventListener("input", apply);
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== input && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape" && document.activeElement === input) {
      input.value = "";
      apply();
      input.blur();
    }
  });
})();
