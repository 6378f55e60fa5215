export interface PlacedOrder {
  readonly id: string;
}

/** Talks to the orders application as any customer would. */
export class OrdersClient {
  constructor(private readonly url: string) {}

  place(number: number): Promise<PlacedOrder> {
    const skus = ['TEA-GREEN', 'TEA-BLACK', 'CUP-BLUE'];
    return this.post('/orders', { sku: skus[number % skus.length], quantity: 1 + (number % 3), amountCents: 1250 });
  }

  async pay(order: PlacedOrder): Promise<void> {
    await this.post(`/orders/${order.id}/pay`, {});
  }

  async cancel(order: PlacedOrder, reason: string): Promise<void> {
    await this.post(`/orders/${order.id}/cancel`, { reason });
  }

  private async post(path: string, body: object): Promise<PlacedOrder> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} was answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as PlacedOrder; // the orders application answers with the order
  }
}
