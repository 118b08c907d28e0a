/** Where an operation is on HTTP. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRoute {
  readonly method: HttpMethod;
  /**
   * Beneath `/api/v1`. A name in braces is the parameter of that name. The other parameters are in the query of a GET or DELETE (one that is
   * no text, number, boolean or list of texts as JSON text), and in the JSON body of the others.
   */
  readonly path: string;
}

export const API_PREFIX = '/api/v1';

/** Any value: a request with a cookie that changes something carries it, and no form of another site can. */
export const CSRF_HEADER = 'x-roost-csrf';
/** The start of the node that a request is meant for. */
export const INCARNATION_HEADER = 'x-roost-incarnation';
/** Milliseconds that a node may take for what is asked of it. */
export const DEADLINE_HEADER = 'x-roost-deadline-ms';
/** In every answer, and in the audit log. */
export const REQUEST_ID_HEADER = 'x-request-id';
