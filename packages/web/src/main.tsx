import './no-eval.ts';
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { openHub } from './hub/hub.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <App hub={openHub(window)} />
  </StrictMode>,
);
