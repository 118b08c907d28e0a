// How everything looks: Mantine's default theme, whose variables come from its style file; writing others needs a style tag.
import { createTheme, Modal } from '@mantine/core';

export const theme = createTheme({
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Locking the scroll bar writes a style tag.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } }),
  },
});
