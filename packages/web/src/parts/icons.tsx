/** Line drawings of 20 px; words beside them or their button's label say what they are. */
import type { ReactNode } from 'react';

function icon(drawing: ReactNode) {
  return function Icon() {
    return (
      <svg
        width="18"
        height="18"
        viewBox="0 0 20 20"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {drawing}
      </svg>
    );
  };
}

export const BoardIcon = icon(
  <>
    <rect x="3" y="3" width="6" height="6" rx="1" />
    <rect x="11" y="3" width="6" height="6" rx="1" />
    <rect x="3" y="11" width="6" height="6" rx="1" />
    <rect x="11" y="11" width="6" height="6" rx="1" />
  </>,
);
export const FleetIcon = icon(
  <>
    <rect x="3" y="3" width="14" height="5" rx="1" />
    <rect x="3" y="12" width="14" height="5" rx="1" />
    <path d="M6 5.5h.01M6 14.5h.01" />
  </>,
);
export const RecordIcon = icon(
  <>
    <path d="M4 4h12v12H4z" />
    <path d="M7 8h6M7 12h4" />
  </>,
);
export const WorktreeIcon = icon(
  <>
    <circle cx="5.5" cy="4.5" r="2" />
    <circle cx="5.5" cy="15.5" r="2" />
    <circle cx="14.5" cy="7.5" r="2" />
    <path d="M5.5 6.5v7M14.5 9.5c0 3-4 2.5-8 4" />
  </>,
);
export const AuditIcon = icon(<path d="M4 5h12M4 10h12M4 15h7" />);
export const SettingsIcon = icon(
  <>
    <path d="M3 6h8M15 6h2M3 14h2M9 14h8" />
    <circle cx="13" cy="6" r="2" />
    <circle cx="7" cy="14" r="2" />
  </>,
);
export const SearchIcon = icon(
  <>
    <circle cx="9" cy="9" r="5" />
    <path d="m13 13 4 4" />
  </>,
);
export const PlusIcon = icon(<path d="M10 4v12M4 10h12" />);
export const MoreIcon = icon(<path d="M4.5 10h.01M10 10h.01M15.5 10h.01" strokeWidth="2.6" />);
export const FileIcon = icon(<path d="M5 3h6l4 4v10H5zM11 3v4h4" />);
export const FolderIcon = icon(<path d="M3 5h5l2 2h7v9H3z" />);
export const ChevronIcon = icon(<path d="m7 5 6 5-6 5" />);
