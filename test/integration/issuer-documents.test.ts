import { createServer as createTcpServer } from "node:net";
import { once } from "node:events";

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import {
  HttpIssuerDocuments,
  type IssuerDocumentOptions,
} from "../../runtime/adapters/http/issuers/http-issuer-documents.ts";
import { IssuerUnavailableError } from "../../runtime/core/ports/issuer-documents.ts";
import { readKeySet } from "../../runtime/gateway/access/tokens/read-key-set.ts";
import { testNetwork, type TestNetwork } from "../support/callback-network.ts";
import { freePort } from "../support/free-port.ts";
import { selfSigned } from "../support/self-signed.ts";
import { issuerPaths, openTokenIssuer, type TokenIssuer } from "../support/token-issuer.ts";

let issuer: TokenIssuer;
beforeEach(async () => {
  issuer = await openTokenIssuer();
});
afterEach(async () => {
  await issuer[Symbol.asyncDispose]();
});

/** Nothing in this file leaves loopback. */
function documents(network: TestNetwork = testNetwork(), options: Partial<IssuerDocumentOptions> = {}) {
  return new HttpIssuerDocuments({ closedPorts: [], network, ...options });
}
const written = (internal?: string) => ({ iss: issuer.url, internal });

describe("a document of an issuer", () => {
  test("comes as it was sent, with what was asked", async () => {
    issuer.replace("/echo", (request, response) => {
      response.writeHead(418, { "content-type": "text/plain", "x-many": ["1", "2"] });
      request.pipe(response);
    });
    const response = await documents().fetchFromIssuer(written(), `${issuer.url}/echo`, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams({ a: "1 2" }),
    });
    expect([response.status, await response.text(), response.headers.get("x-many")]).toEqual([418, "a=1+2", "1, 2"]);
    expect(issuer.lastHeaders).toMatchObject({
      accept: "application/json",
      "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
      "user-agent": "weir",
    });
    expect(issuer.lastHeaders).not.toHaveProperty("authorization");
  });

  test("has no body where its status has none", async () => {
    issuer.replace("/none", (_request, response) => void response.writeHead(204).end());
    const response = await documents().fetchFromIssuer(written(), `${issuer.url}/none`);
    expect([response.status, response.body]).toEqual([204, null]);
  });

  test("is not followed elsewhere", async () => {
    await using other = await openTokenIssuer();
    issuer.replace(
      "/moved",
      (_request, response) => void response.writeHead(302, { location: `${other.url}/keys` }).end(),
    );
    const response = await documents().fetchFromIssuer(written(), `${issuer.url}/moved`);
    expect([response.status, response.redirected]).toEqual([302, false]);
    expect(other.paths).toEqual([]);
  });

  test("has at most 256 KiB", async () => {
    let length = 262_144;
    issuer.replace("/long", (_request, response) => void response.end(Buffer.alloc(length, "x")));
    const read = () => documents().fetchFromIssuer(written(), `${issuer.url}/long`);
    expect((await (await read()).arrayBuffer()).byteLength).toBe(length);
    length += 1;
    await expect(read()).rejects.toThrow("the response is over the limit of 262144 bytes");
  });

  test("is not waited for longer than the limit: for its head, its body or a connection", async () => {
    issuer.replace("/silent", () => {});
    issuer.replace("/half", (_request, response) => void response.write("{"));
    // Accepts, and never replies.
    const accepts = createTcpServer();
    accepts.listen(0, "127.0.0.1");
    await once(accepts, "listening");
    const unresolved = { ...testNetwork(), resolve: () => new Promise<never>(() => {}) };
    try {
      const quick = documents(undefined, { timeout: 200 });
      for (const path of ["/silent", "/half"]) {
        await expect(quick.fetchFromIssuer(written(), issuer.url + path)).rejects.toThrow(
          "no complete response in 200 ms",
        );
      }
      const named = new HttpIssuerDocuments({ closedPorts: [], network: unresolved, timeout: 200 });
      await expect(
        named.fetchFromIssuer({ iss: "https://idp.example", internal: undefined }, "https://idp.example/"),
      ).rejects.toThrow("no complete response in 200 ms");
      const { port } = accepts.address() as { readonly port: number };
      const handshake = { iss: `https://127.0.0.1:${port}`, internal: undefined };
      const onMachine = new HttpIssuerDocuments({ closedPorts: [], timeout: 200 });
      await expect(onMachine.fetchFromIssuer(handshake, `${handshake.iss}/`)).rejects.toThrow(
        "no complete response in 200 ms",
      );
    } finally {
      accepts.close();
    }
  });

  test("is waited for at most 5 s, though the issuer takes 20", async () => {
    issuer.replace("/slow", () => {});
    await expect(documents().fetchFromIssuer(written(), `${issuer.url}/slow`)).rejects.toThrow(
      `Cannot read "${issuer.url}/slow": no complete response in 5000 ms`,
    );
  });

  test("ends with the caller's signal", async () => {
    const controller = new AbortController();
    issuer.replace("/held", () => controller.abort());
    await expect(
      documents().fetchFromIssuer(written(), `${issuer.url}/held`, { signal: controller.signal }),
    ).rejects.toThrow(IssuerUnavailableError);
    const before = issuer.paths.length;
    await expect(
      documents().fetchFromIssuer(written(), `${issuer.url}/held`, { signal: controller.signal }),
    ).rejects.toThrow(IssuerUnavailableError);
    expect(issuer.paths.length).toBe(before);
  });

  test("does not come when nobody listens, or the connection is cut", async () => {
    const iss = `http://127.0.0.1:${await freePort()}`;
    await expect(documents().fetchFromIssuer({ iss, internal: undefined }, iss)).rejects.toThrow(/ECONNREFUSED/);
    issuer.replace("/cut", (request) => void request.socket.destroy());
    await expect(documents().fetchFromIssuer(written(), `${issuer.url}/cut`)).rejects.toThrow(IssuerUnavailableError);
  });
});

describe("an address", () => {
  test.each([
    ["nothing", "no address", "it is not a valid address"],
    ["http elsewhere", "http://keys.example/", "http is for loopback and issInternal only, expected https"],
    ["a metadata name", "https://metadata.google.internal/", "it is a metadata service"],
    ["a metadata address", "https://169.254.169.254/", "it is a metadata service"],
    ["a metadata address in IPv6", "https://[::ffff:169.254.169.254]/", "it is a metadata service"],
    ["a private address", "https://10.0.0.1/", "10.0.0.1 is not public (private)"],
    ["loopback", "https://127.1/", "127.0.0.1 is not public (loopback)"],
    ["loopback in IPv6", "https://[::1]/", "::1 is not public (loopback)"],
    ["a name of a private address", "https://turned.example/", "10.0.0.1 is not public (private)"],
    ["a name that also has a private address", "https://mixed.example/", "127.0.0.1 is not public (loopback)"],
  ])("beside the issuer's own is refused: %s", async (_name, url, why) => {
    const network = testNetwork({
      "turned.example": [["10.0.0.1"]],
      "mixed.example": [["93.184.216.34", "127.0.0.1"]],
    });
    await expect(documents(network).fetchFromIssuer(written(), url)).rejects.toThrow(why);
    expect(network.dialled).toEqual([]);
  });

  test.each([
    ["169.254.1.1", "https://169.254.1.1"],
    ["0.0.0.0", "https://0.0.0.0"],
    ["a metadata service of another cloud", "https://100.100.100.200"],
    ["a name of a metadata service", "https://idp.example"],
  ])("of the issuer itself is refused: %s", async (_name, iss) => {
    const network = testNetwork({ "idp.example": [["169.254.169.254"]] });
    await expect(documents(network).fetchFromIssuer({ iss, internal: undefined }, `${iss}/keys`)).rejects.toThrow(
      IssuerUnavailableError,
    );
    expect(network.dialled).toEqual([]);
  });

  test("that the administrator wrote may be private, at that port only", async () => {
    const network = testNetwork({ "idp.auth.svc": [["10.1.2.3"]] }, { "10.1.2.3": "127.0.0.1" });
    const internal = `http://idp.auth.svc:${issuer.port}`;
    const of = { iss: "https://idp.example", internal };
    const response = await documents(network).fetchFromIssuer(of, `${internal}${issuerPaths.keys}`);
    expect(response.status).toBe(200);
    expect(network.dialled).toEqual(["10.1.2.3"]);
    await expect(documents(network).fetchFromIssuer(of, `https://idp.auth.svc:${issuer.port + 1}/`)).rejects.toThrow(
      "10.1.2.3 is not public (private)",
    );
  });

  test("at a port of the platform is refused, also of the issuer itself", async () => {
    await expect(
      documents(undefined, { closedPorts: [issuer.port] }).fetchFromIssuer(written(), `${issuer.url}/keys`),
    ).rejects.toThrow(`port ${issuer.port} belongs to the platform`);
    expect(issuer.paths).toEqual([]);
  });

  test("is judged each time, as names turn", async () => {
    const network = testNetwork({ "idp.example": [["127.0.0.1"], ["169.254.169.254"]] });
    const of = { iss: "https://a.example", internal: `http://idp.example:${issuer.port}` };
    const fetches = documents(network);
    expect((await fetches.fetchFromIssuer(of, `${of.internal}/keys`)).status).toBe(200);
    await expect(fetches.fetchFromIssuer(of, `${of.internal}/keys`)).rejects.toThrow("it is a metadata service");
  });
});

describe("the API server of the cluster", () => {
  test("is asked with the account's authority and token, and nobody else is", async () => {
    const tls = await selfSigned();
    await using cluster = await openTokenIssuer(tls);
    const account = {
      ca: { current: vi.fn(async () => tls.cert.toString()), refused: vi.fn() },
      token: { current: vi.fn(async () => "account-token"), refused: vi.fn() },
    };
    // The certificate is for localhost: the name in the handshake is what the test's network makes of it.
    const network = testNetwork({ "kubernetes.default.svc": [["127.0.0.1"]] });
    const asLocalhost: TestNetwork = {
      ...network,
      connector: (options) => {
        const connect = network.connector(options);
        return (to, callback) => {
          if (to.hostname !== "kubernetes.default.svc") return connect(to, callback);
          return connect({ ...to, hostname: "localhost", servername: "localhost" }, callback);
        };
      },
    };
    const of = { iss: "https://oidc.cloud.example/1", internal: `https://kubernetes.default.svc:${cluster.port}` };
    const fetches = new HttpIssuerDocuments({ closedPorts: [], network: asLocalhost, account });
    expect((await readKeySet(of, fetches)).map(({ kid }) => kid)).toEqual(["first"]);
    expect(cluster.paths).toEqual([issuerPaths.cluster]);
    expect(cluster.lastHeaders["authorization"]).toBe("Bearer account-token");
    expect(account.token.refused).not.toHaveBeenCalled();

    cluster.replace(issuerPaths.cluster, (_request, response) => void response.writeHead(401).end());
    await expect(readKeySet(of, fetches)).rejects.toThrow("expected status 200, got 401");
    expect(account.token.refused).toHaveBeenCalledOnce();

    // Another issuer's https server, with the same certificate: neither authority nor token.
    await expect(
      fetches.fetchFromIssuer(
        { iss: `https://localhost:${cluster.port}`, internal: undefined },
        `https://localhost:${cluster.port}/keys`,
      ),
    ).rejects.toThrow(/self-signed|certificate/);
    await fetches.fetchFromIssuer(written(), `${issuer.url}/keys`);
    expect(issuer.lastHeaders).not.toHaveProperty("authorization");
  });
});
