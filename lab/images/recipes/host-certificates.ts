/**
 * The machine's certificate bundle, for images whose programs fetch things. It lies where
 * `update-ca-certificates` looks for local authorities, so it survives an `apt-get install ca-certificates` in
 * somebody's Dockerfile; the setup scripts also copy it to the usual place.
 */
const inside = '/usr/local/share/ca-certificates/lab-host.crt';

export const hostCertificates = { [inside]: '/etc/ssl/certs/ca-certificates.crt' } as const;

/** Node reads it besides its own list, so it may stay at the path that no package writes to. */
export const nodeCertificates = `NODE_EXTRA_CA_CERTS=${inside}`;

export const opensslCertificates = 'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt';
