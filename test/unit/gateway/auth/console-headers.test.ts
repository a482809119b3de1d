import { expect, test } from "vitest";

import { consoleHeaders } from "../../../../runtime/gateway/auth/console-headers.ts";

/** What Debian's Chromium 156 names with `document.featurePolicy.features()`, without client hints (`ch-…`). */
const known = [
  "accelerometer",
  "aria-notify",
  "autoplay",
  "browsing-topics",
  "camera",
  "captured-surface-control",
  "clipboard-read",
  "clipboard-write",
  "compute-pressure",
  "cross-origin-isolated",
  "deferred-fetch",
  "deferred-fetch-minimal",
  "digital-credentials-create",
  "digital-credentials-get",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "gamepad",
  "geolocation",
  "gyroscope",
  "hid",
  "identity-credentials-get",
  "idle-detection",
  "interest-cohort",
  "keyboard-map",
  "language-detector",
  "language-model",
  "local-fonts",
  "local-network",
  "local-network-access",
  "loopback-network",
  "magnetometer",
  "media-playback-while-not-visible",
  "microphone",
  "midi",
  "on-device-speech-recognition",
  "otp-credentials",
  "payment",
  "picture-in-picture",
  "private-state-token-issuance",
  "private-state-token-redemption",
  "publickey-credentials-create",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "speaker-selection",
  "storage-access",
  "summarizer",
  "sync-xhr",
  "translator",
  "unload",
  "usb",
  "window-management",
  "xr-spatial-tracking",
];

/** Not switched off: made for assistive technology or leaving a page, on trial, or withdrawn. */
const left = [
  "aria-notify",
  "browsing-topics",
  "captured-surface-control",
  "cross-origin-isolated",
  "deferred-fetch",
  "deferred-fetch-minimal",
  "interest-cohort",
  "language-detector",
  "language-model",
  "local-network",
  "local-network-access",
  "loopback-network",
  "media-playback-while-not-visible",
  "on-device-speech-recognition",
  "private-state-token-issuance",
  "private-state-token-redemption",
  "summarizer",
  "translator",
  "unload",
];

test("a page may write to the clipboard; every other feature is off, by names that Chromium knows", () => {
  const policy = consoleHeaders["Permissions-Policy"] ?? "";
  const parts = policy.split(", ").map((part) => part.split("="));
  const off = parts.filter(([, allowed]) => allowed === "()").map(([name]) => name);

  expect(parts.filter(([, allowed]) => allowed !== "()")).toEqual([["clipboard-write", "(self)"]]);
  expect(off).toEqual(known.filter((name) => name !== "clipboard-write" && !left.includes(name)));
});
