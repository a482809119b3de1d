import { execFile } from "node:child_process";
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { tempDirectory } from "../temp-directory.ts";
import type { Properties } from "./property-values.ts";

interface Made {
  readonly id: string;
  readonly outputs: Properties;
}

const curves: Readonly<Record<string, string>> = { P224: "P-224", P256: "P-256", P384: "P-384", P521: "P-521" };
/** Uses by the provider's name: the extension and openssl's name. */
const uses: Readonly<Record<string, readonly ["keyUsage" | "extendedKeyUsage", string]>> = {
  digital_signature: ["keyUsage", "digitalSignature"],
  content_commitment: ["keyUsage", "nonRepudiation"],
  key_encipherment: ["keyUsage", "keyEncipherment"],
  data_encipherment: ["keyUsage", "dataEncipherment"],
  key_agreement: ["keyUsage", "keyAgreement"],
  cert_signing: ["keyUsage", "keyCertSign"],
  crl_signing: ["keyUsage", "cRLSign"],
  server_auth: ["extendedKeyUsage", "serverAuth"],
  client_auth: ["extendedKeyUsage", "clientAuth"],
  code_signing: ["extendedKeyUsage", "codeSigning"],
  email_protection: ["extendedKeyUsage", "emailProtection"],
  timestamping: ["extendedKeyUsage", "timeStamping"],
  ocsp_signing: ["extendedKeyUsage", "OCSPSigning"],
};
const subjectFields: Readonly<Record<string, string>> = {
  commonName: "CN",
  country: "C",
  locality: "L",
  organization: "O",
  organizationalUnit: "OU",
  province: "ST",
  serialNumber: "serialNumber",
};
const hour = 3_600_000;

/** A key of the algorithm that the inputs name. */
export function privateKey(inputs: Properties): Made {
  const { algorithm, ecdsaCurve = "P224", rsaBits = 2_048 } = inputs;
  const pair =
    algorithm === "RSA"
      ? generateKeyPairSync("rsa", { modulusLength: Number(rsaBits) })
      : algorithm === "ECDSA"
        ? generateKeyPairSync("ec", { namedCurve: curves[String(ecdsaCurve)] ?? String(ecdsaCurve) })
        : algorithm === "ED25519"
          ? generateKeyPairSync("ed25519")
          : undefined;
  if (pair === undefined) throw new Error(`Cannot make a key: "${String(algorithm)}" is not RSA, ECDSA or ED25519`);
  const pkcs8 = pair.privateKey.export({ format: "pem", type: "pkcs8" });
  const older = { RSA: "pkcs1", ECDSA: "sec1" }[String(algorithm)] ?? "pkcs8";
  const publicKeyPem = pair.publicKey.export({ format: "pem", type: "spki" });
  const outputs = {
    ...inputs,
    ecdsaCurve,
    rsaBits,
    privateKeyPem: pair.privateKey.export({ format: "pem", type: older as "pkcs8" }),
    privateKeyPemPkcs8: pkcs8,
    publicKeyPem,
    publicKeyOpenssh: "",
    privateKeyOpenssh: "",
  };
  return { id: createHash("sha1").update(publicKeyPem).digest("hex"), outputs };
}

/** A certificate request with its alternative names. */
export async function certificateRequest(inputs: Properties): Promise<Made> {
  const certRequestPem = await requestFor(inputs);
  const id = createHash("sha1").update(certRequestPem).digest("hex");
  return { id, outputs: { ...inputs, certRequestPem, keyAlgorithm: algorithmOf(String(inputs["privateKeyPem"])) } };
}

/** A certificate signed by its own key or, for a request, by an authority's. */
export async function signedCertificate(inputs: Properties): Promise<Made> {
  const { certRequestPem, caCertPem, caPrivateKeyPem, privateKeyPem, validityPeriodHours } = inputs;
  await using directory = await tempDirectory("tls");
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(directory.path, name);
    await writeFile(path, content, { mode: 0o600 });
    return path;
  };
  const isOwn = caPrivateKeyPem === undefined;
  const key = await file("key", String(isOwn ? privateKeyPem : caPrivateKeyPem));
  const request = await file("request", isOwn ? await requestFor(inputs) : String(certRequestPem));
  const extensions = await file("extensions", extensionsOf(inputs));
  const signer = isOwn ? ["-signkey", key] : ["-CA", await file("authority", String(caCertPem)), "-CAkey", key];
  // openssl counts in days only.
  const days = Math.max(1, Math.ceil(Number(validityPeriodHours) / 24));
  const serial = `0x${randomBytes(16).toString("hex")}`;
  const how = ["-set_serial", serial, "-days", String(days), "-copy_extensions", "copyall", "-extfile", extensions];
  const certPem = await openssl("x509", "-req", "-in", request, ...signer, ...how);
  const { validFrom, serialNumber } = new X509Certificate(certPem);
  const start = Date.parse(validFrom);
  const outputs = {
    ...inputs,
    certPem,
    keyAlgorithm: algorithmOf(String(isOwn ? privateKeyPem : caPrivateKeyPem)),
    readyForRenewal: false,
    validityStartTime: new Date(start).toISOString(),
    validityEndTime: new Date(start + Number(validityPeriodHours) * hour).toISOString(),
  };
  return { id: serialNumber, outputs };
}

/** Whether a certificate is so near its end that it must be renewed. */
export function needsRenewal(outputs: Properties, now = Date.now()): boolean {
  const { validityEndTime, earlyRenewalHours = 0 } = outputs;
  return typeof validityEndTime === "string" && now > Date.parse(validityEndTime) - Number(earlyRenewalHours) * hour;
}

function extensionsOf({ allowedUses, isCaCertificate = false }: Properties): string {
  const named = (allowedUses as readonly string[]).map((use) => {
    const known = uses[use];
    if (known === undefined) throw new Error(`Cannot make a certificate: there is no use "${use}"`);
    return known;
  });
  const lines = (["keyUsage", "extendedKeyUsage"] as const).flatMap((extension) => {
    const values = named.filter(([of]) => of === extension).map(([, value]) => value);
    return values.length === 0
      ? []
      : [`${extension}=${extension === "keyUsage" ? "critical," : ""}${values.join(",")}`];
  });
  return [`basicConstraints=critical,CA:${isCaCertificate === true ? "TRUE" : "FALSE"}`, ...lines, ""].join("\n");
}

async function requestFor({ privateKeyPem, subject = {}, ...inputs }: Properties): Promise<string> {
  await using directory = await tempDirectory("tls");
  const key = join(directory.path, "key");
  await writeFile(key, String(privateKeyPem), { mode: 0o600 });
  const parts = Object.entries(subject as Properties).flatMap(([field, value]) => {
    const short = subjectFields[field];
    return short === undefined ? [] : [`/${short}=${String(value).replaceAll(/[/\\+]/g, String.raw`\$&`)}`];
  });
  const texts = (field: string): readonly string[] => (inputs[field] ?? []) as readonly string[];
  const names = [
    ...texts("dnsNames").map((name) => `DNS:${name}`),
    ...texts("ipAddresses").map((address) => `IP:${address}`),
    ...texts("uris").map((uri) => `URI:${uri}`),
  ];
  const alternatives = names.length === 0 ? [] : ["-addext", `subjectAltName=${names.join(",")}`];
  return await openssl("req", "-new", "-key", key, "-subj", parts.join("") || "/", ...alternatives);
}

function algorithmOf(pem: string): string {
  const names: Readonly<Record<string, string>> = { rsa: "RSA", ec: "ECDSA", ed25519: "ED25519" };
  const type = createPublicKey(pem).asymmetricKeyType ?? "";
  return names[type] ?? type;
}

async function openssl(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("openssl", args);
  return stdout;
}
