import './no-eval.ts';
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { isLoginAddress } from './ahead/first-requests.ts';
import { firstAnswers } from './hub/first-answers.ts';
import { openHub } from './hub/hub.ts';
import { makeQueryClient } from './hub/queries.ts';

/** Milliseconds that the first answers are waited for with an empty page: they are there as a rule, and nothing flashes up before them. */
const FIRST_ANSWERS_MS = 200;

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
const hub = openHub(window);
const queries = makeQueryClient();
const isReady = isLoginAddress(location.hash)
  ? Promise.resolve()
  : Promise.race([
      firstAnswers(hub, queries),
      new Promise((resolve) => setTimeout(resolve, FIRST_ANSWERS_MS)),
    ]);
void isReady.then(() =>
  createRoot(root).render(
    <StrictMode>
      <App hub={hub} queries={queries} />
    </StrictMode>,
  ),
);
