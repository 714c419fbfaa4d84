// A page at an old address: on to the new one, at the anchor that was asked for, if one was.
const target = new URL(document.currentScript.dataset.target, location);
target.hash = location.hash || target.hash;
location.replace(target);
