import { createHash } from "node:crypto";
import { join } from "node:path";

import { quote } from "shlex";

import { baseImageName, release } from "../../api/version.ts";

/** Facts of this platform that the page shows. */
export interface StartPageFacts {
  /** The address at which clients reach the gateway. */
  readonly address: string;
  /** As in `/system/info`: `process`, `docker`, `kubernetes`. */
  readonly orchestration: string;
  readonly password: PasswordPlace;
}

/** Where the administrator's password is stored: in a directory of the machine, or in a Secret of a namespace. */
export type PasswordPlace = { readonly directory: string } | { readonly namespace: string };

/** The settings that locate the password. */
export interface CredentialSettings {
  readonly platformNamespace: string;
  readonly secretMountPath: string;
}

/** Where the password is stored, by orchestration. */
export function passwordPlace(orchestration: string, settings: CredentialSettings): PasswordPlace {
  const { platformNamespace: namespace, secretMountPath: directory } = settings;
  return orchestration === "kubernetes" ? { namespace } : { directory };
}

/** The page at `/`. Without a console, it shows where to go and how to deploy and call a first function. */
export interface StartPage {
  readonly html: string;
  /** `Content-Security-Policy`: nothing but the page's own style. */
  readonly policy: string;
}

const style = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: 1rem; border: 1px solid; border-radius: 4px }`;
const styleHash = createHash("sha256").update(style).digest("base64");

export function startPage({ address, orchestration, password }: StartPageFacts): StartPage {
  // A process needs no image, only a name for one.
  const image = orchestration === "process" ? "hello:1" : baseImageName;
  const deployment = `{"service":"hello","image":"${image}","envProcess":"tr a-z A-Z"}`;
  const commands = [
    passwordCommand(password),
    `curl -u admin:$P -X PUT ${address}/system/functions -d '${deployment}'`,
    `curl ${address}/function/hello -d 'hello, weir'`,
  ];
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Weir</title>
<style>${style}</style>
</head>
<body>
<h1>Weir ${escaped(release)}</h1>
<p>This is the gateway of a function platform, at <code>${escaped(address)}</code>.</p>
<p>Deploy a first function and call it:</p>
<pre><code>${escaped(commands.join("\n"))}</code></pre>
<p>The API describes itself: <a href="/openapi.json">openapi.json</a>, <a href="/openapi.yaml">openapi.yaml</a>.
The pages of the manual are in the folder <code>docs</code> of the release.</p>
</body>
</html>
`;
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return { html, policy };
}

function passwordCommand(place: PasswordPlace): string {
  if ("directory" in place) return `P=$(cat ${quote(join(place.directory, "basic-auth-password"))})`;
  return `P=$(kubectl -n ${place.namespace} get secret basic-auth -o jsonpath='{.data.basic-auth-password}' | base64 -d)`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
