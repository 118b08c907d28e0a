/** A way to a server whose certificate is known itself, whoever signed it: nothing is sent to any other. */
import { Agent } from 'node:https';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';

/** Code of the error of a connection whose server showed another certificate. */
export const CERTIFICATE_MISMATCH = 'ROOST_CERTIFICATE_MISMATCH';

/** `fingerprint`: SHA-256 of the certificate, 64 hexadecimal digits in lower case. */
export function pinnedAgent(fingerprint: string): Agent {
  const agent = new Agent();
  agent.createConnection = (options, callback) => {
    const socket = connect({ ...(options as ConnectionOptions), rejectUnauthorized: false });
    const failed = (error: Error): void => callback?.(error, socket);
    socket.once('error', failed);
    socket.once('secureConnect', () => {
      socket.off('error', failed);
      if (isExpected(socket, fingerprint)) callback?.(null, socket);
      else {
        socket.destroy();
        callback?.(Object.assign(new Error('another certificate'), { code: CERTIFICATE_MISMATCH }), socket);
      }
    });
    return null;
  };
  return agent;
}

function isExpected(socket: TLSSocket, fingerprint: string): boolean {
  const { fingerprint256 } = socket.getPeerCertificate();
  return (
    typeof fingerprint256 === 'string' && fingerprint256.replaceAll(':', '').toLowerCase() === fingerprint
  );
}

const CERTIFICATE_ERRORS =
  /^(CERT_|ERR_TLS_CERT|UNABLE_TO_VERIFY|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_GET_ISSUER)/;

/** Whether a connection failed because of what the server proved, or did not. */
export function isCertificateError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === CERTIFICATE_MISMATCH || CERTIFICATE_ERRORS.test(String(error.code));
}
