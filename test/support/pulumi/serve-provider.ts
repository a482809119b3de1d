import { Metadata, status, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import anyMessages from "google-protobuf/google/protobuf/any_pb.js";
import empty from "google-protobuf/google/protobuf/empty_pb.js";
import plugin from "@pulumi/pulumi/proto/plugin_pb.js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb.js";
import messages from "@pulumi/pulumi/proto/provider_pb.js";
import type {
  CheckRequest,
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DiffRequest,
  ReadRequest,
  UpdateRequest,
} from "@pulumi/pulumi/proto/provider_pb.js";
import statuses from "@pulumi/pulumi/proto/status_pb.js";

import {
  holdsUnknown,
  pathText,
  readProperties,
  writeProperties,
  type Properties,
  type PropertyPath,
} from "./property-values.ts";
import type { PluginProvider, ResourceName } from "./plugin-provider.ts";
import { StartFailed } from "./start-failed.ts";
import { servePlugin } from "./serve-plugin.ts";

/** Serves a provider in the engine's protocol; secrets stay marked on their way through it. */
export function serveProvider(provider: PluginProvider): void {
  const handlers = {
    getPluginInfo: () => {
      const info = new plugin.PluginInfo();
      info.setVersion(provider.version);
      return info;
    },
    checkConfig: (request: CheckRequest) => {
      const response = new messages.CheckResponse();
      response.setInputs(request.getNews());
      return response;
    },
    diffConfig: () => new messages.DiffResponse(),
    configure: async (request: ConfigureRequest) => {
      await provider.configure?.(configOf(request));
      const response = new messages.ConfigureResponse();
      response.setAcceptsecrets(true);
      response.setSupportspreview(provider.supportsPreview);
      return response;
    },
    check: async (request: CheckRequest) => {
      const olds = readProperties(request.getOlds());
      const news = readProperties(request.getNews());
      const response = new messages.CheckResponse();
      const inputs = (await provider.check?.(nameOf(request.getUrn()), olds.value, news.value)) ?? news.value;
      response.setInputs(writeProperties(inputs, news.secrets));
      return response;
    },
    diff: async (request: DiffRequest) => {
      const news = readProperties(request.getNews()).value;
      const outputs = readProperties(request.getOlds()).value;
      const inputs = readProperties(request.getOldInputs()).value;
      const name = nameOf(request.getUrn());
      const { changes, replaces, deleteFirst } = await provider.diff({ name, inputs, outputs, news });
      const response = new messages.DiffResponse();
      const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
      response.setChanges(changes.length > 0 ? DIFF_SOME : DIFF_NONE);
      response.setDiffsList(changes.map(pathText));
      response.setReplacesList(replaces.map(pathText));
      response.setDeletebeforereplace(deleteFirst);
      return response;
    },
    create: async (request: CreateRequest) => {
      const { value: inputs, secrets } = readProperties(request.getProperties());
      const name = nameOf(request.getUrn());
      const marked = [...secrets, ...(provider.secrets?.(name.type) ?? [])];
      const timeout = secondsOf(request.getTimeout());
      const made = await marking(marked, () =>
        provider.create({ name, inputs, preview: request.getPreview(), ...timeout }),
      );
      const response = new messages.CreateResponse();
      response.setId(made.id);
      response.setProperties(writeProperties(made.outputs, marked));
      return response;
    },
    read: async (request: ReadRequest) => {
      const inputs = readProperties(request.getInputs());
      const outputs = readProperties(request.getProperties());
      const name = nameOf(request.getUrn());
      const marked = [...inputs.secrets, ...outputs.secrets, ...(provider.secrets?.(name.type) ?? [])];
      const read = await marking(marked, () =>
        provider.read({ name, id: request.getId(), inputs: inputs.value, outputs: outputs.value }),
      );
      const response = new messages.ReadResponse();
      if (read === undefined) return response;
      response.setId(request.getId());
      response.setProperties(writeProperties(read.outputs, marked));
      response.setInputs(writeProperties(read.inputs, marked));
      return response;
    },
    update: async (request: UpdateRequest) => {
      const { value: news, secrets } = readProperties(request.getNews());
      const outputs = readProperties(request.getOlds()).value;
      const name = nameOf(request.getUrn());
      const marked = [...secrets, ...(provider.secrets?.(name.type) ?? [])];
      const updated = await marking(marked, () =>
        provider.update({
          name,
          id: request.getId(),
          outputs,
          news,
          ignored: request.getIgnorechangesList(),
          preview: request.getPreview(),
          ...secondsOf(request.getTimeout()),
        }),
      );
      const response = new messages.UpdateResponse();
      response.setProperties(writeProperties(updated, marked));
      return response;
    },
    delete: async (request: DeleteRequest) => {
      await provider.delete({
        name: nameOf(request.getUrn()),
        id: request.getId(),
        outputs: readProperties(request.getProperties()).value,
        inputs: readProperties(request.getOldInputs()).value,
        ...secondsOf(request.getTimeout()),
      });
      return new empty.Empty();
    },
    cancel: () => new empty.Empty(),
  };
  const methods = Object.entries(handlers).map(([method, handler]) => [method, unary(handler as Handler)]);
  servePlugin(ResourceProviderService, Object.fromEntries(methods));
}

type Handler = (request: unknown) => unknown;

function unary(handler: Handler) {
  return ({ request }: ServerUnaryCall<unknown, unknown>, send: sendUnaryData<unknown>): void => {
    Promise.resolve()
      .then(() => handler(request))
      .then((response) => send(null, response))
      .catch((err: unknown) => {
        const message = err instanceof Error ? err.message : String(err);
        send({ code: status.UNKNOWN, message, ...(err instanceof Unready && { metadata: err.metadata }) });
      });
  };
}

/** A resource that exists but is not ready: the engine keeps it in its state, and continues with it the next time. */
class Unready extends Error {
  readonly metadata = new Metadata();

  constructor({ id, outputs, inputs, message }: StartFailed, secrets: readonly PropertyPath[]) {
    super(message);
    const detail = new messages.ErrorResourceInitFailed();
    detail.setId(id);
    detail.setProperties(writeProperties(outputs, secrets));
    detail.setInputs(writeProperties(inputs, secrets));
    detail.setReasonsList([message]);
    const packed = new anyMessages.Any();
    packed.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const grpcStatus = new statuses.Status();
    grpcStatus.setCode(status.UNKNOWN);
    grpcStatus.setMessage(message);
    grpcStatus.addDetails(packed);
    this.metadata.add("grpc-status-details-bin", Buffer.from(grpcStatus.serializeBinary()));
  }
}

async function marking<T>(secrets: readonly PropertyPath[], act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (err) {
    throw err instanceof StartFailed ? new Unready(err, secrets) : err;
  }
}

function secondsOf(seconds: number): { readonly timeout?: number } {
  return seconds > 0 ? { timeout: seconds * 1_000 } : {};
}

function nameOf(urn: string): ResourceName {
  const [, , types = "", name = ""] = urn.split("::");
  return { type: types.split("$").at(-1) ?? "", name };
}

/** Settings of the provider: values that are not text arrive as JSON; unknown values are left out. */
function configOf(request: ConfigureRequest): Properties {
  const given = readProperties(request.getArgs()).value;
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => (holdsUnknown(value) ? [] : [[key, parseBoolean(value)]])),
  );
}

function parseBoolean(value: unknown): unknown {
  return value === "true" || value === "false" ? value === "true" : value;
}
