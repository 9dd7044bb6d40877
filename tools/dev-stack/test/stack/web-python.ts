import { pythonWith } from '@berth/testing/python';

/** A Python with the public clients and servers of HTTP and WebSockets that the tests of load-balanced endpoints talk with. */
export const webPython = (): Promise<string> =>
  pythonWith([
    'websockets==17.4',
    'fastapi==0.165.0',
    'uvicorn==0.54.0',
    'requests==2.34.2',
    'httpx==0.28.1',
    'aiohttp==3.14.5',
  ]);
