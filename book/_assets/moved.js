// A page at an old address: on to the new one, with the anchor that was asked for.
location.replace(document.currentScript.dataset.target + location.hash);
