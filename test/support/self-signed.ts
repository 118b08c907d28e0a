// A certificate of this machine that nobody vouches for, made here so that no key is in the repository.
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT = 0x06;
const TEXT = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';

export interface SelfSigned {
  /** In PEM. */
  readonly cert: string;
  readonly key: string;
  /** SHA-256 of the certificate, 64 hexadecimal digits in lower case. */
  readonly fingerprint: string;
}

/** For `localhost`. */
export function selfSigned(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, der(OBJECT, Buffer.from(ECDSA_WITH_SHA256, 'hex')));
  const name = der(
    SEQUENCE,
    der(
      SET,
      der(SEQUENCE, der(OBJECT, Buffer.from(COMMON_NAME, 'hex')), der(TEXT, Buffer.from('localhost'))),
    ),
  );
  const validity = der(
    SEQUENCE,
    ...['200101000000Z', '491231235959Z'].map((time) => der(UTC_TIME, Buffer.from(time))),
  );
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const facts = der(SEQUENCE, der(INTEGER, Buffer.from([1])), algorithm, name, validity, name, spki);
  const signature = sign('sha256', facts, privateKey);
  const certificate = der(SEQUENCE, facts, algorithm, der(BIT_STRING, Buffer.from([0]), signature));
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  const cert = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return {
    cert,
    fingerprint: new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase(),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
