// What is asked of hub and nodes, with its errors typed, for react-query.
import {
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  type UseMutationResult,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { isPassing } from '@roost/client/browser';
import type {
  FailureError,
  HubOperationName,
  HubParamsInput,
  HubResult,
  NodeId,
  OperationName,
  ParamsInput,
  Result,
} from '@roost/protocol';
import type { Hub } from './hub.ts';
import { useHub } from './hub-context.tsx';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: FailureError;
  }
}

/** Attempts at reading something while the hub or its line to the node is away. */
const READ_ATTEMPTS = 3;

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        retry: (failures, error) => failures < READ_ATTEMPTS && isPassing(error),
        retryDelay: (failures) => Math.min(500 * 2 ** failures, 4_000),
      },
    },
  });
}

type ReadOptions<Data> = Pick<
  UseQueryOptions<Data>,
  'enabled' | 'refetchInterval' | 'retryOnMount' | 'staleTime' | 'gcTime'
>;

export function useHubQuery<Name extends HubOperationName>(
  name: Name,
  params: HubParamsInput<Name>,
  options: ReadOptions<HubResult<Name>> = {},
): UseQueryResult<HubResult<Name>> {
  return useQuery({ ...options, ...hubQuery(useHub(), name, params) });
}

export function hubQuery<Name extends HubOperationName>(
  { api }: Pick<Hub, 'api'>,
  name: Name,
  params: HubParamsInput<Name>,
) {
  return queryOptions<HubResult<Name>>({
    queryKey: ['hub', name, params],
    queryFn: ({ signal }) => api.hub(name, params, { signal }),
  });
}

export function useNodeQuery<Name extends OperationName>(
  nodeId: NodeId,
  name: Name,
  params: ParamsInput<Name>,
  options: ReadOptions<Result<Name>> = {},
): UseQueryResult<Result<Name>> {
  const { api } = useHub();
  return useQuery<Result<Name>>({
    ...options,
    queryKey: nodeKey(nodeId, name, params),
    queryFn: ({ signal }) => api.node(nodeId, name, params, { signal }),
  });
}

/** The beginning of the key of every reading of an operation of a node. */
export function nodeKey(nodeId: NodeId, name: OperationName, ...params: unknown[]): unknown[] {
  return ['node', nodeId, name, ...params];
}

/** Something that is done once, when a person says so. */
export function useAct<Input, Output>(
  act: (input: Input) => Promise<Output>,
  onDone?: (output: Output, input: Input) => void,
): UseMutationResult<Output, FailureError, Input> {
  return useMutation<Output, FailureError, Input>({
    mutationFn: act,
    ...(onDone === undefined ? {} : { onSuccess: (output: Output, input: Input) => onDone(output, input) }),
  });
}
