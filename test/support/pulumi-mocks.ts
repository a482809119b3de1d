import * as pulumi from "@pulumi/pulumi";

import { privateKey } from "./pulumi/tls-material.ts";

/** A resource as the program registered it. */
export interface RegisteredResource {
  readonly type: string;
  readonly name: string;
  /** With secrets unwrapped. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Names of the inputs that are secret. */
  readonly secretInputs: readonly string[];
  readonly secretOutputs: readonly string[];
  /** Name and type of the parent, as in its URN. */
  readonly parent: string;
  /** Name of the provider; empty for the default one. */
  readonly provider: string;
  /** Ends of the URNs of its dependencies: `type::name`. */
  readonly dependencies: readonly string[];
  readonly retainOnDelete: boolean;
  readonly isProtected: boolean;
  /** Timeout of its creation, as the program states it; empty if it does not. */
  readonly createTimeout: string;
  readonly ignoreChanges: readonly string[];
  /** Former URNs, or the parts of them that the program states. */
  readonly aliases: readonly string[];
  readonly custom: boolean;
}

interface Request {
  getType(): string;
  getName(): string;
  getParent(): string;
  getProvider(): string;
  getCustom(): boolean;
  getRetainondelete(): boolean;
  getProtect(): boolean;
  getCustomtimeouts(): { getCreate(): string } | undefined;
  getDependenciesList(): string[];
  getAdditionalsecretoutputsList(): string[];
  getIgnorechangesList(): string[];
  getAliasurnsList(): string[];
  getAliasesList(): { toObject(): object }[];
}

interface ReadRequest {
  getId(): string;
  getProvider(): string;
}

interface Monitor {
  registerResource(request: Request, callback: unknown): Promise<void>;
  readResource(request: ReadRequest, callback: unknown): Promise<void>;
}

/** An object that the program read from the cluster. */
export interface LookedAt {
  readonly id: string;
  /** Name of the provider; empty for the default one. */
  readonly provider: string;
}

const signature = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/**
 * Records resources from now on instead of creating them. Call before the program is imported.
 * `preview` leaves unknown what only an engine would know.
 */
export async function recordResources(
  options: { readonly preview?: boolean } = {},
): Promise<{ readonly resources: () => Promise<readonly RegisteredResource[]>; readonly looks: readonly LookedAt[] }> {
  const looks: LookedAt[] = [];
  const requests: Request[] = [];
  const made: RegisteredResource[] = [];
  const newResource = ({ type, name, inputs, id }: pulumi.runtime.MockResourceArgs) => {
    if (id !== undefined && id !== "") return { id, state: stateOf(type, id) };
    const request = requests.findLast((each) => each.getType() === type && each.getName() === name);
    if (request === undefined) throw new Error(`expected a request for ${type} ${name}`);
    made.push(registered(request, inputs as Readonly<Record<string, unknown>>));
    const given = inputs as Readonly<Record<string, unknown>>;
    const state = options.preview === true ? given : { ...given, ...outputsOf(type, name, given) };
    return { id: options.preview === true ? undefined : `${name}-id`, state };
  };
  await pulumi.runtime.setMocks({ newResource, call: () => ({}) }, "weir", "test", options.preview ?? false);
  const monitor = pulumi.runtime.getMonitor() as unknown;
  if (!isMonitor(monitor)) throw new Error("expected the monitor of the mocks");
  const register = monitor.registerResource.bind(monitor);
  monitor.registerResource = (request, callback) => {
    requests.push(request);
    return register(request, callback);
  };
  const read = monitor.readResource.bind(monitor);
  monitor.readResource = (request, callback) => {
    looks.push({ id: request.getId(), provider: providerName(request) });
    return read(request, callback);
  };
  return {
    looks,
    resources: async () => {
      await pulumi.runtime.disconnect();
      return made;
    },
  };
}

/** The only resource of this type (its end is enough) and name. */
export function resourceNamed(resources: readonly RegisteredResource[], type: string, name: string) {
  const found = resources.filter((each) => each.type.endsWith(type) && each.name === name);
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`expected one ${type} "${name}", got ${found.length}`);
  return first;
}

/** The value of an output, and whether it is secret. */
export async function settled<T>(output: pulumi.Output<T>): Promise<{ readonly value: T; readonly secret: boolean }> {
  const value = await new Promise<T>((resolve) => void output.apply(resolve));
  return { value, secret: await pulumi.isSecret(output) };
}

function registered(request: Request, inputs: Readonly<Record<string, unknown>>): RegisteredResource {
  return {
    type: request.getType(),
    name: request.getName(),
    inputs: unwrapped(inputs) as Readonly<Record<string, unknown>>,
    secretInputs: Object.entries(inputs).flatMap(([key, value]) => (holdsSecret(value) ? [key] : [])),
    secretOutputs: request.getAdditionalsecretoutputsList(),
    parent: endOf(request.getParent()),
    provider: providerName(request),
    dependencies: request.getDependenciesList().map(endOf),
    createTimeout: request.getCustomtimeouts()?.getCreate() ?? "",
    isProtected: request.getProtect(),
    retainOnDelete: request.getRetainondelete(),
    ignoreChanges: request.getIgnorechangesList(),
    aliases: [
      ...request.getAliasurnsList(),
      ...request.getAliasesList().map((alias) => JSON.stringify(alias.toObject())),
    ],
    custom: request.getCustom(),
  };
}

function providerName(request: Pick<Request, "getProvider">): string {
  return request.getProvider().split("::").at(-2) ?? "";
}

/** Outputs that only the provider knows. */
function outputsOf(
  type: string,
  name: string,
  inputs: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const pem = (what: string) => `-----BEGIN ${what}-----\nof ${name}\n-----END ${what}-----\n`;
  if (type.startsWith("random:")) return { result: `generated-${name}` };
  if (type === "tls:index/privateKey:PrivateKey") return privateKey(inputs).outputs;
  if (type === "tls:index/certRequest:CertRequest") return { certRequestPem: pem("CERTIFICATE REQUEST") };
  if (type.startsWith("tls:")) return { certPem: pem("CERTIFICATE") };
  if (type === "kubernetes:core/v1:Service") return { status: { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } } };
  return {};
}

/** Where a program in the cluster finds the API server. */
export const apiServerThere = { ports: ["16443"], serviceAddresses: ["10.96.0.1", "fd00:96::1"] };

function stateOf(type: string, id: string): Readonly<Record<string, unknown>> {
  const found = new Map<string, Readonly<Record<string, unknown>>>([
    [
      "kubernetes:discovery.k8s.io/v1:EndpointSlice default/kubernetes",
      { ports: apiServerThere.ports.map((port) => ({ name: "https", port: Number(port) })) },
    ],
    ["kubernetes:core/v1:Service default/kubernetes", { spec: { clusterIPs: apiServerThere.serviceAddresses } }],
  ]).get(`${type} ${id}`);
  if (found === undefined) throw new Error(`expected no look at ${type} "${id}"`);
  return found;
}

function unwrapped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (typeof value !== "object" || value === null) return value;
  if (isSecret(value)) return unwrapped((value as { readonly value?: unknown }).value);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, unwrapped(field)]));
}

function holdsSecret(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isSecret(value) || Object.values(value).some(holdsSecret);
}

function isSecret(value: object): boolean {
  return signature in value && value[signature] === secretSignature;
}

function isMonitor(value: unknown): value is Monitor {
  return typeof value === "object" && value !== null && "registerResource" in value;
}

function endOf(urn: string): string {
  return urn.split("::").slice(2).join("::").split("$").at(-1) ?? "";
}
