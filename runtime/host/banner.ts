import { runsContainers, type ProviderName } from "../api/machine-providers.ts";
import type { SetAsidePart } from "../api/schemas/system-info.ts";
import { baseImageName, release } from "../api/version.ts";

export interface BannerFacts {
  readonly url: string;
  /** Where a browser opens the console; absent: there is none. */
  readonly consoleUrl?: string | undefined;
  readonly adminUrl: string;
  readonly user: string;
  readonly passwordFile: string;
  readonly edition: string;
  readonly provider: ProviderName;
  /** Why functions do not run in containers, unless that was chosen. */
  readonly withoutEngine?: string | undefined;
  /** What separates functions from each other and from this machine. */
  readonly isolation: string;
  readonly durability: string;
  /** Bytes the broker may store, and calls that fit at a time. */
  readonly store: { readonly bytes: number; readonly calls: number };
  /** What of the store could not be recovered. */
  readonly setAside: readonly SetAsidePart[];
}

/** What `npm start` prints once it serves. */
export function formatBanner(facts: BannerFacts): string {
  const needsImage = runsContainers(facts.provider);
  const image = needsImage ? baseImageName : "hello";
  return `Weir ${release} is ready

  address     ${facts.url}
${facts.consoleUrl === undefined ? "" : `  console     ${facts.consoleUrl}\n`}  admin       ${facts.adminUrl}
  user        ${facts.user}
  password    in ${facts.passwordFile}
  edition     ${facts.edition}
  provider    ${facts.provider}
${facts.withoutEngine === undefined ? "" : `  engine      none: ${facts.withoutEngine}\n`}  isolation   ${facts.isolation}
  durability  ${durabilityText(facts.durability)}
  store       ${storeText(facts.store)}
${facts.setAside.map(asideText).join("")}
Try it in another terminal:

${needsImage ? "  npm run base-image\n" : ""}  curl -u "${facts.user}:$(cat ${quoted(facts.passwordFile)})" -X PUT ${facts.url}/system/functions \\
    -d '{"service":"hello","image":"${image}","envProcess":"tr a-z A-Z"}'
  curl ${facts.url}/function/hello -d 'hello, weir'

Ctrl-C stops it.
`;
}

/** As in `190 MB: 19 000 calls at a time`. */
export function storeText({ bytes, calls }: BannerFacts["store"]): string {
  const grouped = String(calls).replaceAll(/\B(?=(?:\d{3})+$)/g, " ");
  return `${Math.floor(bytes / 1_000_000)} MB: ${grouped} calls at a time`;
}

const losses: Readonly<Record<string, string>> = {
  interval: "a power cut can lose about the last second of calls",
  always: "a power cut loses no call that was accepted",
};

function durabilityText(durability: string): string {
  const loss = losses[durability];
  return loss === undefined ? durability : `${durability}: ${loss}`;
}

function asideText({ part, reason, loss, path }: SetAsidePart): string {
  return `  set aside   ${part}: ${reason}; missing: ${loss}; its files are in ${path}\n`;
}

/** A path, quoted as one shell word. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
