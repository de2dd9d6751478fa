/** What pictures are drawn with: a canvas of the page, one that nobody sees, or one that writes down what is drawn. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  Exclude<keyof CanvasRenderingContext2D & keyof OffscreenCanvasRenderingContext2D, 'canvas'>
>
