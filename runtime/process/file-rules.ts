import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

/** Certificate and key are set together, can be read, and match. The server that uses them reads them again. */
export const tlsRule = {
  needs: ["tlsCert", "tlsKey"],
  sentence: "`tls_cert` and `tls_key` are both set or none, and are PEM files of a certificate and its key.",
  problems: ({
    tlsCert,
    tlsKey,
  }: {
    readonly tlsCert: string | undefined;
    readonly tlsKey: string | undefined;
  }): readonly string[] => {
    if (tlsCert === undefined && tlsKey === undefined) return [];
    if (tlsCert === undefined || tlsKey === undefined) return ["tls_cert and tls_key: expected both or none"];
    return tlsProblems(tlsCert, tlsKey);
  },
} as const;

/** The files with the broker's password and its certificate authority can be read. */
export const passwordFileRule = {
  needs: ["natsPasswordFile", "natsCaFile"],
  sentence: "`nats_password_file` and `nats_ca_file` are files that can be read.",
  problems: ({
    natsPasswordFile,
    natsCaFile,
  }: {
    readonly natsPasswordFile: string | undefined;
    readonly natsCaFile: string | undefined;
  }): readonly string[] =>
    [["nats_password_file", natsPasswordFile] as const, ["nats_ca_file", natsCaFile] as const].flatMap(
      ([name, file]) => {
        const read = file === undefined ? undefined : readFile(name, file);
        return read !== undefined && "problem" in read ? [read.problem] : [];
      },
    ),
} as const;

function tlsProblems(certFile: string, keyFile: string): string[] {
  const cert = readFile("tls_cert", certFile);
  const key = readFile("tls_key", keyFile);
  const problems = [cert, key].flatMap((read) => ("problem" in read ? [read.problem] : []));
  if ("problem" in cert || "problem" in key) return problems;
  try {
    createSecureContext({ cert: cert.content, key: key.content });
    return [];
  } catch (err) {
    const reason = err instanceof Error ? err.message : String(err);
    return [
      `tls_cert and tls_key: expected PEM files of a certificate and its key, got "${certFile}" and "${keyFile}" (${reason})`,
    ];
  }
}

function readFile(name: string, file: string): { readonly content: Buffer } | { readonly problem: string } {
  try {
    return { content: readFileSync(file) };
  } catch (err) {
    const reason = err instanceof Error && "code" in err ? String(err.code) : String(err);
    return { problem: `${name}: expected a file that can be read, got "${file}" (${reason})` };
  }
}
