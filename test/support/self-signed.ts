import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { tempDirectory } from "./temp-directory.ts";

/** A certificate for `name` and 127.0.0.1 with its key, both PEM; made for one test run. */
export async function selfSigned(name = "localhost"): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  await using directory = await tempDirectory("certificate");
  const [cert, key] = [join(directory.path, "cert.pem"), join(directory.path, "key.pem")];
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name},IP:127.0.0.1`];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const out = ["-nodes", "-days", "2", "-keyout", key, "-out", cert];
  await promisify(execFile)("openssl", ["req", "-x509", ...curve, ...out, ...subject]);
  return { cert: await readFile(cert), key: await readFile(key) };
}
