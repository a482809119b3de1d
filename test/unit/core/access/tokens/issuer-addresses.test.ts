import { expect, test } from "vitest";

import {
  firstDocumentOf,
  isClusterIssuer,
  judgeIssuerUrl,
  type IssuerAddresses,
} from "../../../../../runtime/core/access/tokens/issuer-addresses.ts";

const issuer = (iss: string, internal?: string): IssuerAddresses => ({ iss, internal });

test.each([
  [issuer("https://idp.example"), "description", "https://idp.example/.well-known/openid-configuration"],
  [issuer("https://idp.example/realm/"), "description", "https://idp.example/realm/.well-known/openid-configuration"],
  [issuer("https://idp.example/realm//"), "description", "https://idp.example/realm/.well-known/openid-configuration"],
  [
    issuer("https://idp.example", "http://idp.auth.svc:8080"),
    "description",
    "http://idp.auth.svc:8080/.well-known/openid-configuration",
  ],
  [
    issuer("https://oidc.cloud.example/1", "https://kubernetes.default.svc"),
    "keys",
    "https://kubernetes.default.svc/openid/v1/jwks",
  ],
  [
    issuer("https://oidc.cloud.example/1", "https://kubernetes.default.svc.evil.example"),
    "description",
    "https://kubernetes.default.svc.evil.example/.well-known/openid-configuration",
  ],
  [
    issuer("https://kubernetes.default.svc"),
    "description",
    "https://kubernetes.default.svc/.well-known/openid-configuration",
  ],
  [
    issuer("https://a.example", "http://kubernetes.default.svc"),
    "description",
    "http://kubernetes.default.svc/.well-known/openid-configuration",
  ],
] as const)("keys of %j begin at its %s", (of, kind, url) => {
  expect(firstDocumentOf(of)).toEqual({ kind, url });
  expect(isClusterIssuer(of)).toBe(kind === "keys");
});

test.each([
  ["its own host", issuer("https://10.1.2.3:8443/realm"), "https://10.1.2.3:8443/keys", "any"],
  ["its default port", issuer("https://idp.example"), "https://idp.example:443/keys", "any"],
  ["another port", issuer("https://10.1.2.3:8443"), "https://10.1.2.3/keys", "public"],
  ["another host", issuer("https://idp.example"), "https://keys.example/keys", "public"],
  ["another spelling of its host", issuer("https://127.0.0.1"), "https://0x7f000001/", "any"],
  [
    "its internal host",
    issuer("https://idp.example", "http://idp.auth.svc:8080"),
    "http://idp.auth.svc:8080/keys",
    "any",
  ],
  ["loopback that was written", issuer("http://localhost:9000"), "http://localhost:9000/keys", "any"],
  ["IPv6 loopback that was written", issuer("http://[::1]:9000"), "http://[::1]:9000/keys", "any"],
])("an issuer may be read at %s", (_name, of, url, addresses) => {
  expect(judgeIssuerUrl(new URL(url), of)).toEqual({ kind: "allowed", addresses });
});

const http = "http is for loopback and issInternal only, expected https";
test.each([
  ["http", issuer("http://idp.example"), "http://idp.example/keys", http],
  ["http at another host", issuer("https://idp.example"), "http://keys.example/", http],
  ["http at the https host", issuer("https://idp.example"), "http://idp.example:443/", http],
  ["loopback that was not written", issuer("https://idp.example"), "http://127.0.0.1:8222/", http],
  ["loopback at another port", issuer("http://127.0.0.1:9000"), "http://127.0.0.1:8222/", http],
  ["http where issInternal is https", issuer("https://a.example", "https://b.svc:8080"), "http://b.svc:8080/", http],
  ["a name that begins like loopback", issuer("http://127.0.0.1.evil.example"), "http://127.0.0.1.evil.example/", http],
  ["a user part", issuer("https://idp.example"), "https://u:p@idp.example/", "a user part is not allowed"],
  ["a user alone", issuer("https://idp.example"), "https://u@idp.example/", "a user part is not allowed"],
  ["a password alone", issuer("https://idp.example"), "https://:p@idp.example/", "a user part is not allowed"],
  ["a file", issuer("https://idp.example"), "file:///etc/passwd", "expected https"],
  ["data", issuer("https://idp.example"), "data:application/json,{}", "expected https"],
])("an issuer may not be read at %s", (_name, of, url, why) => {
  expect(judgeIssuerUrl(new URL(url), of)).toEqual({ kind: "refused", why });
});
