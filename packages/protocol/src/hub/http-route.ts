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
