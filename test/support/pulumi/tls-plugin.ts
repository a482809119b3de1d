import { differences } from "./property-values.ts";
import { serveProvider } from "./serve-provider.ts";
import { certificateRequest, needsRenewal, privateKey, signedCertificate } from "./tls-material.ts";

serveProvider({
  version: "5.6.1",
  supportsPreview: false,
  secrets: (type) =>
    type.endsWith("PrivateKey") ? [["privateKeyPem"], ["privateKeyPemPkcs8"], ["privateKeyOpenssh"]] : [],
  diff: async ({ inputs, outputs, news }) => {
    const changed = differences(inputs, news).filter(([key]) => !String(key).startsWith("__"));
    const renewed = needsRenewal(outputs) ? [["readyForRenewal"]] : [];
    const changes = [...changed, ...renewed];
    return { changes, replaces: changes, deleteFirst: false };
  },
  create: async ({ name, inputs }) => {
    switch (name.type) {
      case "tls:index/privateKey:PrivateKey":
        return privateKey(inputs);
      case "tls:index/certRequest:CertRequest":
        return certificateRequest(inputs);
      case "tls:index/selfSignedCert:SelfSignedCert":
      case "tls:index/locallySignedCert:LocallySignedCert":
        return signedCertificate(inputs);
      default:
        throw new Error(`Cannot make "${name.name}": the stand-in has no ${name.type}`);
    }
  },
  read: async ({ inputs, outputs }) => ({ inputs, outputs }),
  update: async ({ outputs }) => outputs,
  delete: async () => {},
});
