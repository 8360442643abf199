import { css } from 'lit'

/** Pages change the custom properties; docs/inbox.md lists them. */
export const styles = css`
  :host {
    --_accent: var(--bellwire-accent, light-dark(#4f46e5, #a5a8ff));
    --_accent-text: var(--bellwire-accent-text, light-dark(#ffffff, #16162e));
    --_surface: var(--bellwire-surface, light-dark(#ffffff, #1c1d22));
    --_text: var(--bellwire-text, light-dark(#1b1c22, #f1f1f4));
    --_muted: var(--bellwire-muted, light-dark(#5f626d, #a6a9b4));
    --_line: var(--bellwire-line, light-dark(#e9eaee, #2f3138));
    --_hover: var(--bellwire-hover, light-dark(#f5f6f8, #26282e));
    --_unread: color-mix(in srgb, var(--_accent) 6%, var(--_surface));
    --_focus: var(--bellwire-focus, var(--_accent));
    --_radius: var(--bellwire-radius, 16px);
    --_inner: calc(var(--_radius) * 0.625);
    display: inline-block;
    color: var(--_text);
    font-family: var(--bellwire-font, inherit);
    font-size: 0.9375rem;
    font-style: normal;
    font-weight: 400;
    letter-spacing: normal;
    line-height: 1.45;
    text-align: start;
    text-transform: none;
    white-space: normal;
    -webkit-font-smoothing: antialiased;
  }

  :host([hidden]) {
    display: none;
  }

  :host([view='list']) {
    display: block;
  }

  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }

  h2,
  p,
  ul {
    margin: 0;
    padding: 0;
  }

  button {
    font: inherit;
    color: inherit;
    border: 0;
    background: none;
    padding: 0;
    cursor: pointer;
    -webkit-tap-highlight-color: transparent;
  }

  svg {
    display: block;
    width: 1.25rem;
    height: 1.25rem;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.7;
    stroke-linecap: round;
    stroke-linejoin: round;
  }

  :focus-visible {
    outline: 2px solid var(--_focus);
    outline-offset: 2px;
  }

  .panel:focus {
    outline: none;
  }

  .spoken {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }

  /* The bell */

  .bell {
    position: relative;
    display: grid;
    place-items: center;
    width: 2.5rem;
    height: 2.5rem;
    border-radius: 999px;
    transition: background 0.15s ease;
  }

  .bell:hover,
  .bell[aria-expanded='true'] {
    background: color-mix(in srgb, var(--_text) 8%, transparent);
  }

  .bell svg {
    transform-origin: 50% 15%;
    width: 1.4375rem;
    height: 1.4375rem;
  }

  .badge {
    position: absolute;
    inset-block-start: 0;
    inset-inline-start: 1.25rem;
    min-width: 1.125rem;
    padding-inline: 0.28rem;
    border-radius: 999px;
    background: var(--bellwire-badge, light-dark(#d92d4a, #ff8095));
    color: var(--bellwire-badge-text, light-dark(#ffffff, #2b0710));
    box-shadow: 0 0 0 2px var(--bellwire-surface, Canvas);
    font-size: 0.6875rem;
    font-weight: 700;
    line-height: 1.125rem;
    text-align: center;
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
  }

  /* The panel */

  .panel {
    flex-direction: column;
    color: var(--_text);
    background: var(--_surface);
  }

  :host([view='list']) .panel,
  .panel:popover-open {
    display: flex;
  }

  :host([view='list']) .panel {
    position: relative;
    height: var(--bellwire-height, auto);
    overflow: hidden;
    border-radius: var(--_radius);
  }

  .panel[popover] {
    position: fixed;
    inset: auto;
    margin: 0;
    padding: 0;
    width: var(--bellwire-width, 24rem);
    max-width: calc(100vw - 1rem);
    height: fit-content;
    overflow: hidden;
    border: 1px solid var(--_line);
    border-radius: var(--_radius);
    box-shadow:
      0 1px 2px rgb(16 18 40 / 6%),
      0 12px 32px -8px rgb(16 18 40 / 18%),
      0 32px 64px -24px rgb(16 18 40 / 22%);
  }

  .header {
    display: flex;
    align-items: center;
    gap: 0.25rem;
    flex: none;
    min-height: 3.5rem;
    padding-inline: 1.125rem 0.75rem;
    border-block-end: 1px solid var(--_line);
  }

  .title {
    flex: 1;
    min-width: 0;
    font-size: 1.0625rem;
    font-weight: 650;
    letter-spacing: -0.011em;
  }

  .quiet {
    padding: 0.3125rem 0.625rem;
    border-radius: var(--_inner);
    color: var(--_accent);
    font-size: 0.8125rem;
    font-weight: 600;
  }

  .quiet:hover {
    background: color-mix(in srgb, var(--_accent) 10%, transparent);
  }

  .icon-button {
    display: grid;
    place-items: center;
    flex: none;
    width: 2rem;
    height: 2rem;
    border-radius: var(--_inner);
    color: var(--_muted);
  }

  .icon-button:hover {
    background: color-mix(in srgb, var(--_text) 8%, transparent);
    color: var(--_text);
  }

  .icon-button svg,
  .banner svg {
    flex: none;
    width: 1.125rem;
    height: 1.125rem;
  }

  .banner {
    display: flex;
    flex: none;
    gap: 0.625rem;
    padding: 0.625rem 1.125rem;
    background: light-dark(#fff6e0, #35290f);
    color: light-dark(#6b4700, #f7d58a);
    font-size: 0.8125rem;
  }

  .body {
    min-height: 0;
    overflow-y: auto;
    overscroll-behavior: contain;
    scrollbar-width: thin;
  }

  .panel[popover] .body {
    max-height: var(--bellwire-height, 32rem);
  }

  /* The notifications */

  .list {
    list-style: none;
    padding: 0.375rem;
  }

  .item {
    position: relative;
    display: flex;
    border-radius: var(--_inner);
  }

  .item + .item {
    margin-block-start: 2px;
  }

  .item.unread {
    background: var(--_unread);
  }

  .item:hover,
  .older:hover {
    background: var(--_hover);
  }

  .item.unread:hover {
    background: color-mix(in srgb, var(--_accent) 10%, var(--_surface));
  }

  .link {
    display: flex;
    flex: 1;
    gap: 0.75rem;
    min-width: 0;
    padding-block: 0.75rem;
    padding-inline: 0.75rem 2.75rem;
    border-radius: var(--_inner);
    color: inherit;
    text-align: start;
    text-decoration: none;
  }

  .link:focus-visible,
  .older:focus-visible {
    outline-offset: -2px;
  }

  /* The icon shows where there is no image. */
  .image {
    position: relative;
    display: grid;
    place-items: center;
    flex: none;
    width: 2.75rem;
    height: 2.75rem;
    overflow: hidden;
    border-radius: var(--_inner);
    background: light-dark(#eceef2, #2b2d34);
    color: var(--_muted);
  }

  .image img {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    object-fit: cover;
  }

  .image img[hidden] {
    display: none;
  }

  .text {
    display: grid;
    flex: 1;
    min-width: 0;
    gap: 0.125rem;
    align-content: start;
  }

  .item-title,
  .item-body {
    overflow-wrap: anywhere;
    text-align: start;
    text-wrap: pretty;
  }

  .item-title {
    font-weight: 500;
  }

  .unread .item-title {
    font-weight: 650;
  }

  .item-body {
    display: -webkit-box;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
    overflow: hidden;
    color: var(--_muted);
    font-size: 0.875rem;
  }

  .time {
    margin-block-start: 0.1875rem;
    color: var(--_muted);
    font-size: 0.75rem;
    font-variant-numeric: tabular-nums;
  }

  .unread .time {
    color: color-mix(in srgb, var(--_muted) 85%, var(--_text));
  }

  /* The dot, and the button that replaces it under the pointer. */
  .item.unread::after {
    content: '';
    position: absolute;
    inset-block-start: 1.0625rem;
    inset-inline-end: 1.125rem;
    width: 0.5rem;
    height: 0.5rem;
    border-radius: 50%;
    background: var(--_accent);
    pointer-events: none;
  }

  .dismiss {
    position: absolute;
    inset-block-start: 0.375rem;
    inset-inline-end: 0.375rem;
  }

  @media (hover: hover) {
    .dismiss {
      opacity: 0;
    }

    .item:is(:hover, :focus-within) .dismiss {
      opacity: 1;
    }

    .item.unread:is(:hover, :focus-within)::after {
      display: none;
    }
  }

  @media not (hover: hover) {
    .item.unread::after {
      inset-block-start: auto;
      inset-block-end: 1rem;
    }
  }

  .older {
    display: block;
    width: calc(100% - 0.75rem);
    margin: 0 0.375rem 0.375rem;
    padding: 0.625rem;
    border-radius: var(--_inner);
    color: var(--_accent);
    font-size: 0.875rem;
    font-weight: 600;
  }

  /* Instead of the list */

  .notice {
    display: grid;
    justify-items: center;
    gap: 0.25rem;
    padding: 2.75rem 1.5rem 3rem;
    text-align: center;
    text-wrap: balance;
  }

  .notice-icon {
    display: grid;
    place-items: center;
    width: 3.5rem;
    height: 3.5rem;
    margin-block-end: 0.75rem;
    border-radius: 50%;
    background: color-mix(in srgb, var(--_accent) 10%, var(--_surface));
    color: var(--_accent);
  }

  .notice-icon svg {
    width: 1.625rem;
    height: 1.625rem;
  }

  .notice-title {
    font-weight: 650;
  }

  .notice-hint {
    max-width: 17rem;
    color: var(--_muted);
    font-size: 0.875rem;
  }

  .skeleton {
    display: grid;
    grid-template-columns: 2.75rem 1fr;
    gap: 0.5rem 0.75rem;
    padding: 1.125rem;
  }

  .skeleton :is(i, b) {
    border-radius: 6px;
    background: light-dark(#eceef2, #2b2d34);
  }

  .skeleton i {
    grid-row: span 2;
    height: 2.75rem;
    border-radius: var(--_inner);
  }

  .skeleton b {
    width: 55%;
    height: 0.875rem;
    align-self: end;
  }

  .skeleton b + b {
    width: 85%;
    height: 0.75rem;
    align-self: start;
  }

  @media (width <= 30rem) {
    .panel[popover] {
      inset: auto 0 0;
      width: 100%;
      max-width: 100%;
      max-height: 85dvh;
      border-width: 1px 0 0;
      border-radius: var(--_radius) var(--_radius) 0 0;
    }

    .panel[popover] .body {
      max-height: none;
      padding-block-end: env(safe-area-inset-bottom);
    }

    .panel[popover]::backdrop {
      background: rgb(10 11 20 / 40%);
    }
  }

  @media (prefers-reduced-motion: no-preference) {
    .panel[popover] {
      transition:
        opacity 0.16s ease,
        translate 0.16s ease;
    }

    @starting-style {
      .panel:popover-open {
        opacity: 0;
        translate: 0 -6px;
      }
    }

    .skeleton :is(i, b) {
      animation: breathe 1.4s ease-in-out infinite alternate;
    }

    @keyframes breathe {
      to {
        opacity: 0.45;
      }
    }
  }

  @media (forced-colors: active) {
    .item.unread::after {
      background: Highlight;
      forced-color-adjust: none;
    }

    .badge {
      border: 1px solid;
    }
  }
`
