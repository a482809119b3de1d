import { Service } from "@pulumi/kubernetes/core/v1/index.js";
import { EndpointSlice } from "@pulumi/kubernetes/discovery/v1/index.js";
import * as pulumi from "@pulumi/pulumi";

import { apiServerObject, type ApiServer } from "../manifests/api-server.ts";

/** Where the API server is: what was said, and what was not the cluster says, at each `pulumi up`. */
export function readApiServer(
  name: string,
  said: ApiServer,
  { parent }: pulumi.CustomResourceOptions,
): pulumi.Output<ApiServer> {
  const id = `${apiServerObject.namespace}/${apiServerObject.name}`;
  const options = parent === undefined ? {} : { parent };
  const ports =
    said.ports.length > 0
      ? said.ports
      : EndpointSlice.get(`${name}-endpoints`, id, options).ports.apply(
          // A slice of an older cluster may have none; the usual ones are taken then.
          (found) => (found ?? []).flatMap(({ port }) => (port === undefined ? [] : [String(port)])),
        );
  const serviceAddresses =
    said.serviceAddresses.length > 0
      ? said.serviceAddresses
      : Service.get(`${name}-service`, id, options).spec.apply((spec) => spec?.clusterIPs ?? []);
  return pulumi.all([ports, serviceAddresses]).apply(([known, addresses]) => ({
    ...said,
    ports: known,
    serviceAddresses: addresses,
  }));
}
