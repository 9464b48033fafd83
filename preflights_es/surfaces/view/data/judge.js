// A key presses the button that shows it; keys that a field takes are left to the field.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const found = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!found) return;
  event.preventDefault(); // the field that `v` leads to would take the key as its first letter
  found.click();
});
