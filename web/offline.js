// offline.js -- the page as it was last seen, where there is no network.
"use strict";
const CACHE = "tilelang-playground";
addEventListener("install", () => skipWaiting());
addEventListener("activate", (e) => e.waitUntil(clients.claim().then(async () => (await caches.open(CACHE)).add("./index.html"))));
addEventListener("fetch", (e) => {
    if (e.request.mode !== "navigate")
        return;
    e.respondWith(fetch(e.request).then(async (got) => {
        (await caches.open(CACHE)).put("./index.html", got.clone());
        return got;
    }).catch(async () => (await caches.open(CACHE)).match("./index.html")));
});
