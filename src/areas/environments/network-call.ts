/** The network of an environment on its server: the same for all that runs of it, so whoever comes first makes it. */
import type { Call } from '../../adapters/docker/docker.ts';
import { createNetwork } from '../../adapters/docker/networks.ts';
import { gatewayOf, labelsOf, networkName, type Place, subnetOf } from './place.ts';

export function networkCall(place: Place): Call {
  const labels = labelsOf(place, 'network');
  return createNetwork({
    name: networkName(place),
    subnet: subnetOf(place),
    gateway: gatewayOf(place),
    labels,
  });
}
