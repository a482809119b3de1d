import { Service } from "@pulumi/kubernetes/core/v1/index.js";
import { EndpointSlice } from "@pulumi/kubernetes/discovery/v1/index.js";
import * as pulumi from "@pulumi/pulumi";

import { apiServerObject, type ApiServer } from "../manifests/api-server.ts";

/** Where the API server is: as configured, and the rest as read from the cluster at each `pulumi up`. */
export function readApiServer(
  name: string,
  configured: ApiServer,
  { parent }: pulumi.CustomResourceOptions,
): pulumi.Output<ApiServer> {
  const id = `${apiServerObject.namespace}/${apiServerObject.name}`;
  const options = parent === undefined ? {} : { parent };
  const ports =
    configured.ports.length > 0
      ? configured.ports
      : EndpointSlice.get(`${name}-endpoints`, id, options).ports.apply(
          // A slice of an older cluster may have none; the usual ports are used then.
          (found) => (found ?? []).flatMap(({ port }) => (port === undefined ? [] : [String(port)])),
        );
  const serviceAddresses =
    configured.serviceAddresses.length > 0
      ? configured.serviceAddresses
      : Service.get(`${name}-service`, id, options).spec.apply((spec) => spec?.clusterIPs ?? []);
  return pulumi.all([ports, serviceAddresses]).apply(([known, addresses]) => ({
    ...configured,
    ports: known,
    serviceAddresses: addresses,
  }));
}
