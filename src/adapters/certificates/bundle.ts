/** The one file that HAProxy reads a certificate from: the leaf, its chain, the key. */
import { Fault } from '../../fault.ts';
import { Secret } from '../../secret.ts';
import { readKey } from './pem.ts';
import { certificatesIn } from './read-certificate.ts';

/** Made anew from what was read: no empty line is in it, with which the Runtime API would end what is sent. */
export function bundleOf(certificate: string, privateKey: Secret): Secret {
  const chain = certificatesIn(certificate);
  const read = readKey(privateKey);
  const [leaf] = chain;
  if (!leaf || !('key' in read) || !leaf.checkPrivateKey(read.key))
    throw new Fault('certificate_invalid', 'The certificate and its key do not belong together.', {
      hint: 'It has to be issued or given anew.',
    });
  const key = read.key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return new Secret([...chain.map(String), key].join(''));
}
