import { svg, type TemplateResult } from 'lit'

const icon = (paths: TemplateResult): TemplateResult =>
  svg`<svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">${paths}</svg>`

export const bellIcon = icon(
  svg`<path d="M18 15.5V10.500a6 6 0 1 0-12 0v5L4.500 17.750h15zM9.900 20.500a2.200 2.200 0 0 0 4.200 0" />`,
)
export const closeIcon = icon(svg`<path d="m7 7 10 10M17 7 7 17" />`)
export const checkIcon = icon(svg`<path d="m5 12.500 4.500 4.500L19 7.500" />`)
export const offlineIcon = icon(
  svg`<path d="M4 4l16 16M8.500 15.500a5 5 0 0 1 5.300-1.100M5.500 12.300a9.500 9.500 0 0 1 4-2.300M18.500 12.300a9.500 9.500 0 0 0-5.300-2.600M2.800 9.200a13.500 13.500 0 0 1 3.700-2.300M21.200 9.200A13.500 13.500 0 0 0 11 5.600M12 19h.01" />`,
)
export const silentIcon = icon(
  svg`<path d="M4 4l16 16M18 14.500v-4a6 6 0 0 0-9.300-5M6.300 8.700A6 6 0 0 0 6 10.500v5l-1.500 2.250H17.500M9.900 20.500a2.200 2.200 0 0 0 4.200 0" />`,
)
